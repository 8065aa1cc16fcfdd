// The ChangeLog contract, second part: consumers of one group, and several groups.
import { describe, expect, test } from 'bun:test'
import type { LogEntry } from '../../packages/server/src/log/port.ts'
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { type MakeLog, numbered, oncePerUser, type useLogs } from './change-log-under-test.ts'

const USERS = Array.from({ length: 40 }, (_, index) => `user-${index}`)

export function checkLogGroups(makeLog: MakeLog, logs: ReturnType<typeof useLogs>): void {
  describe('groups', () => {
    test('[C3] two groups are independent', async () => {
      const log = await logs.open(await makeLog.make())
      const [one, two] = [await logs.read(log, 'one'), await logs.read(log, 'two')]
      await log.append(numbered('a', 5))
      await Promise.all([one.first(5), two.first(5)])
      await one.stop()
      await log.append(numbered('a', 5, 5))
      await two.first(10)
      await two.stop()
      expect([await log.lag('one'), await log.lag('two')]).toEqual([5, 0])
      const again = await logs.read(log, 'one')
      expect((await again.first(5)).map(({ text }) => text)).toEqual(
        numbered('a', 5, 5).map(({ text }) => text),
      )
    })

    test('[C3] consumers of a group share the partitions, and none has two consumers at once', async () => {
      const on = await makeLog.make()
      const [one, two] = [await logs.open(on), await logs.open(on)]
      const busy = new Set<number>()
      const clashes: number[] = []
      const before = async (partition: number, _: readonly LogEntry[]) => {
        if (busy.has(partition)) clashes.push(partition)
        busy.add(partition)
        await systemClock.nextTurn()
        busy.delete(partition)
      }
      const count = one.partitionCount
      const first = await logs.read(one, 'g', { before })
      await first.owns(count)
      // Records come all the time while the partitions move.
      let rounds = 0
      let isMoving = true
      const writing = (async () => {
        while (isMoving) {
          await one.append(USERS.flatMap((userId) => numbered(userId, 1, rounds)))
          rounds++
          // A log in memory writes without a turn of the event loop.
          await systemClock.nextTurn()
        }
      })()
      const second = await logs.read(two, 'g', { before })
      await Promise.all([first.owns(Math.ceil(count / 2)), second.owns(Math.floor(count / 2))])
      isMoving = false
      await writing
      expect([...first.partitions(), ...second.partitions()].sort((a, b) => a - b)).toEqual(
        Array.from({ length: count }, (_, partition) => partition),
      )
      const last = USERS.map((userId) => ({ userId, text: `last of ${userId}` }))
      await one.append(last)
      const sawAll = async (text: string) => Promise.race([first.saw(text), second.saw(text)])
      await Promise.all(last.map(({ text }) => sawAll(text)))
      expect(clashes).toEqual([])
      for (const userId of USERS) {
        const expected = [...numbered(userId, rounds).map(({ text }) => text), `last of ${userId}`]
        expect(new Set([...oncePerUser(first.all(), userId), ...oncePerUser(second.all(), userId)])).toEqual(
          new Set(expected),
        )
        for (const reader of [first, second]) {
          const came = oncePerUser(reader.all(), userId)
          expect(came).toEqual(expected.filter((text) => came.includes(text)))
        }
      }
      expect(second.all().length).toBeGreaterThan(0)
    })

    test('[C3] the others take over when a consumer stops', async () => {
      const on = await makeLog.make()
      const [one, two] = [await logs.open(on), await logs.open(on)]
      const count = one.partitionCount
      const first = await logs.read(one, 'g')
      const second = await logs.read(two, 'g')
      await Promise.all([first.owns(Math.ceil(count / 2)), second.owns(Math.floor(count / 2))])
      await one.append(USERS.flatMap((userId) => numbered(userId, 1)))
      await first.stop()
      await second.owns(count)
      expect(first.partitions()).toEqual([])
      await one.append(USERS.flatMap((userId) => numbered(userId, 1, 1)))
      for (const userId of USERS) await second.saw(numbered(userId, 1, 1)[0]!.text)
      const came = new Set([...first.texts(), ...second.texts()])
      expect(came).toEqual(new Set(USERS.flatMap((userId) => numbered(userId, 2)).map(({ text }) => text)))
    })

    test('[C3] more consumers than partitions: some have none, and take over', async () => {
      const on = await makeLog.make()
      const log = await logs.open(on)
      const readers = []
      for (let index = 0; index <= log.partitionCount; index++) readers.push(await logs.read(log, 'g'))
      await Promise.all(readers.slice(0, -1).map((reader) => reader.stop()))
      await readers.at(-1)!.owns(log.partitionCount)
      await log.append(USERS.flatMap((userId) => numbered(userId, 1)))
      await readers.at(-1)!.first(USERS.length)
    })

    if (makeLog.isShared) {
      test('[C3] a consumer whose process was killed is replaced, and what it had not handled comes again', async () => {
        const on = await makeLog.make()
        const log = await logs.open(on)
        const doomed = await on.doom!('g')
        await log.append(USERS.flatMap((userId) => numbered(userId, 1)))
        await doomed.handled(USERS.length)
        await doomed.kill()
        await log.append(USERS.flatMap((userId) => numbered(userId, 2, 1)))
        const heir = await logs.read(log, 'g')
        await heir.owns(log.partitionCount)
        for (const userId of USERS) await heir.saw(numbered(userId, 1, 2)[0]!.text)
        for (const userId of USERS) {
          const came = oncePerUser(heir.all(), userId).slice(-2)
          expect(came).toEqual(numbered(userId, 2, 1).map(({ text }) => text))
        }
      })
    }
  })
}
