// The contract of ChangeLog, run on every adapter: order for each user, at least once, one consumer of a group for a
// partition, what a group handled is remembered, and a bound on what is kept.
import { describe, expect, test } from 'bun:test'
import { ODD_IDS } from './archive/rows.ts'
import { checkLogGroups } from './change-log-groups.ts'
import { type MakeLog, numbered, oncePerUser, textOf, useLogs } from './change-log-under-test.ts'

const USERS = Array.from({ length: 20 }, (_, index) => `user-${index}`)
const LONG_TEXT_CHARS = 60_000

export function changeLogContract(name: string, makeLog: MakeLog): void {
  describe(`change log contract: ${name}`, () => {
    const logs = useLogs()

    test('[C3] records of a user come in the order of appending, with concurrent writers', async () => {
      const on = await makeLog.make()
      const [one, two] = [await logs.open(on), await logs.open(on)]
      // Each user has one writer; every call is made before the first has ended.
      const writes = Array.from({ length: 30 }, (_, round) =>
        [one, two].map((log, writer) =>
          log.append(
            USERS.filter((_, index) => index % 2 === writer).flatMap((userId) =>
              numbered(userId, 3, round * 3),
            ),
          ),
        ),
      )
      await Promise.all(writes.flat())
      const reader = await logs.read(one, 'g')
      await reader.first(USERS.length * 90)
      for (const userId of USERS) {
        const expected = numbered(userId, 90).map(({ text }) => text)
        expect(
          reader
            .all()
            .filter((entry) => entry.userId === userId)
            .map(({ text }) => text),
        ).toEqual(expected)
      }
    })

    test('[C3] all records of a user are in one partition, and offsets differ within it', async () => {
      const log = await logs.open(await makeLog.make())
      const reader = await logs.read(log, 'g')
      await log.append(USERS.flatMap((userId) => numbered(userId, 5)))
      const taken = await reader.first(USERS.length * 5)
      for (const userId of USERS) {
        expect(
          new Set(taken.filter((entry) => entry.userId === userId).map((entry) => entry.partition)).size,
        ).toBe(1)
      }
      expect(new Set(taken.map(({ partition, offset }) => `${partition} ${offset}`)).size).toBe(taken.length)
      for (const { partition } of taken) expect(partition).toBeWithin(0, log.partitionCount)
    })

    test('[C3] any user id and a text of 60 KB come as they were given', async () => {
      const log = await logs.open(await makeLog.make())
      const ids = [...ODD_IDS, 'a:{b}', '{s1}', 'tab\tand\nline', '👩🏽‍🚀', 'x'.repeat(128)]
      const records = ids.map((userId, index) => ({ userId, text: `{"n":${index},"t":"ë📅\\n"}` }))
      const long = { userId: 'long', text: JSON.stringify('é'.repeat(LONG_TEXT_CHARS / 2)) }
      const reader = await logs.read(log, 'g')
      await log.append([])
      await log.append([...records, long])
      const taken = await reader.first(records.length + 1)
      const pairs = (list: readonly { userId: string | null; text: string }[]) =>
        list.map(({ userId, text }) => `${userId} ${text}`).sort()
      expect(pairs(taken)).toEqual(pairs([...records, long]))
    })

    test('[C3] a rejected batch comes again, and nothing of its user comes before it', async () => {
      const log = await logs.open(await makeLog.make())
      let failures = 0
      const reader = await logs.read(log, 'g', {
        async before(_, entries) {
          if (entries.every(({ text }) => text !== textOf('a', 2)) || failures === 3) return
          failures++
          throw new Error('not now')
        },
      })
      for (let number = 0; number < 6; number++)
        await log.append([{ userId: 'a', text: textOf('a', number) }])
      await reader.saw(textOf('a', 5))
      expect(failures).toBe(3)
      expect(oncePerUser(reader.all(), 'a')).toEqual(numbered('a', 6).map(({ text }) => text))
    })

    test('[C3] a group that stopped goes on behind what it handled', async () => {
      const on = await makeLog.make()
      const log = await logs.open(on)
      await log.append(numbered('a', 10))
      const before = await logs.read(log, 'g')
      await before.first(10)
      await before.stop()
      await log.append(numbered('a', 5, 10))
      const after = await logs.read(await logs.open(on), 'g')
      await after.first(5)
      expect(after.texts()).toEqual(numbered('a', 5, 10).map(({ text }) => text))
      expect(before.all()).toHaveLength(10)
    })

    test('[C3] what was being handled and rejected when its consumer stopped comes again', async () => {
      const log = await logs.open(await makeLog.make())
      const begun = Promise.withResolvers<void>()
      const failing = Promise.withResolvers<void>()
      const before = await logs.read(log, 'g', {
        before() {
          begun.resolve()
          return failing.promise
        },
      })
      await log.append(numbered('a', 3))
      await begun.promise
      const stopped = before.stop()
      failing.reject(new Error('stopped in the middle'))
      await stopped
      const after = await logs.read(log, 'g')
      expect((await after.first(3)).map(({ text }) => text)).toEqual(numbered('a', 3).map(({ text }) => text))
      expect(before.all()).toEqual([])
    })

    test('[C3] stop waits for what is being handled, and that does not come again', async () => {
      const log = await logs.open(await makeLog.make())
      const begun = Promise.withResolvers<void>()
      const ending = Promise.withResolvers<void>()
      const before = await logs.read(log, 'g', {
        before() {
          begun.resolve()
          return ending.promise
        },
      })
      await log.append(numbered('a', 1))
      await begun.promise
      const stopped = before.stop()
      ending.resolve()
      await stopped
      expect(before.all()).toHaveLength(1)
      expect(before.partitions()).toEqual([])
      await log.append(numbered('a', 1, 1))
      const after = await logs.read(log, 'g')
      await after.first(1)
      expect(after.texts()).toEqual([textOf('a', 1)])
    })

    test('[C3] a group reads again from an offset, and from the oldest', async () => {
      const log = await logs.open(await makeLog.make())
      await log.append(numbered('a', 6))
      const before = await logs.read(log, 'g')
      const third = (await before.first(6))[2]!
      await expect(log.rewind('g', third.partition, null)).rejects.toThrow()
      await before.stop()
      await log.rewind('g', third.partition, third.offset)
      const again = await logs.read(log, 'g')
      expect((await again.first(3)).map(({ text }) => text)).toEqual(
        numbered('a', 3, 3).map(({ text }) => text),
      )
      await again.stop()
      await log.rewind('g', third.partition, null)
      const all = await logs.read(log, 'g')
      expect((await all.first(6)).map(({ text }) => text)).toEqual(numbered('a', 6).map(({ text }) => text))
      expect(again.all()).toHaveLength(3)
      await expect(log.rewind('g', log.partitionCount, null)).rejects.toThrow()
    })

    test('[C3] the lag counts what a group has not handled', async () => {
      const log = await logs.open(await makeLog.make())
      const reader = await logs.read(log, 'g')
      expect(await log.lag('g')).toBe(0)
      await reader.stop()
      await log.append(USERS.flatMap((userId) => numbered(userId, 5)))
      expect(await log.lag('g')).toBe(100)
      expect(await log.lag('never-read')).toBe(100)
      const after = await logs.read(log, 'g')
      await after.first(100)
      await after.stop()
      expect(await log.lag('g')).toBe(0)
    })

    test('[C3] a new group begins with the oldest or with what comes from now on', async () => {
      const log = await logs.open(await makeLog.make())
      await log.append(USERS.map((userId) => ({ userId, text: 'before' })))
      const newest = await logs.read(log, 'newest', { start: 'newest' })
      const oldest = await logs.read(log, 'oldest', { start: 'oldest' })
      await log.append(USERS.map((userId) => ({ userId, text: 'after' })))
      await Promise.all([newest.first(USERS.length), oldest.first(USERS.length * 2)])
      expect(new Set(newest.texts())).toEqual(new Set(['after']))
      // Where a group begins is remembered, also if it handled nothing.
      await log.append([{ userId: 'a', text: 'later' }])
      await Promise.all([newest.saw('later'), oldest.saw('later')])
      expect(newest.all()).toHaveLength(USERS.length + 1)
      expect(oldest.all()).toHaveLength(USERS.length * 2 + 1)
    })

    test('[C3] a group that begins with the newest misses nothing while it is stopped', async () => {
      const log = await logs.open(await makeLog.make())
      await log.append([{ userId: 'a', text: 'before' }])
      await (await logs.read(log, 'g', { start: 'newest' })).stop()
      await log.append(USERS.map((userId) => ({ userId, text: 'after' })))
      const reader = await logs.read(log, 'g', { start: 'newest' })
      await reader.first(USERS.length)
      expect(new Set(reader.texts())).toEqual(new Set(['after']))
    })

    test('[C3] old records go, and a reader that is behind goes on with the oldest that is left', async () => {
      const on = await makeLog.makeSmall()
      const log = await logs.open(on)
      const before = await logs.read(log, 'g')
      await log.append([{ userId: 'a', text: 'first' }])
      await before.saw('first')
      await before.stop()
      const padding = 'x'.repeat(LONG_TEXT_CHARS)
      const texts = Array.from({ length: 100 }, (_, index) => `${index} ${padding}`)
      for (const text of texts) await log.append([{ userId: 'a', text }])
      await untilGone(log, texts[0]!)
      const after = await logs.read(log, 'g')
      await after.saw(texts.at(-1)!)
      const read = after.texts()
      expect(read[0]).not.toBe(texts[0])
      // In order and once. More may go while it reads.
      const kept = new Set(read)
      expect(read).toEqual(texts.filter((text) => kept.has(text)))
      await after.stop()
      expect(await log.lag('g')).toBe(0)
    })

    test('[C3] a closed log takes nothing, and closing twice is fine', async () => {
      const log = await logs.open(await makeLog.make())
      const reader = await logs.read(log, 'g')
      await log.close()
      await log.close()
      expect(reader.partitions()).toEqual([])
      await reader.stop()
      await expect(log.append(numbered('a', 1))).rejects.toThrow('closed')
      await expect(log.consume('g', 'oldest', { handle: async () => {} })).rejects.toThrow('closed')
    })

    test('[C3] the name of a group has letters, digits, dots, dashes and underscores', async () => {
      const log = await logs.open(await makeLog.make())
      for (const name of ['', 'a b', 'a{b}', 'a:b', 'x'.repeat(101)]) {
        await expect(log.consume(name, 'oldest', { handle: async () => {} })).rejects.toThrow('not a name')
      }
      await (await logs.read(log, 'a.B-c_1')).stop()
    })

    /** A log may forget later than it is written. Each look is by a group of its own. */
    async function untilGone(log: Awaited<ReturnType<typeof logs.open>>, text: string): Promise<void> {
      for (let look = 0; ; look++) {
        const reader = await logs.read(log, `look-${look}`)
        const [first] = await reader.first(1)
        await reader.stop()
        if (first!.text !== 'first' && first!.text !== text) return
      }
    }

    checkLogGroups(makeLog, logs)
  })
}
