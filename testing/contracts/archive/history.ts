// The archive contract, sixth part: the history of users who keep one. A change that comes again changes nothing, and
// the hours of all users are always the sum of what is kept.
// A failure prints `{ seed, path }`. To replay it: `fc.assert(property, { seed: …, path: '…' })`.
import { describe, expect, test } from 'bun:test'
import type { Status } from '@greendot/protocol'
import fc from 'fast-check'
import type { Archive, HistorySpan } from '../../../packages/server/src/archive/port.ts'
import {
  type HistoryChange,
  type HistoryHour,
  HOUR_MS,
} from '../../../packages/server/src/presence/core/history.ts'
import { aLastSeen, someSettings } from './rows.ts'

const T = 1_700_000_000_000 - (1_700_000_000_000 % HOUR_MS)
const MINUTE_MS = 60_000
const SLOT_MS = 10 * MINUTE_MS
const ALWAYS = { fromAt: 0, toAt: Number.MAX_SAFE_INTEGER, after: null, limit: 100 }
const PROPERTY_RUNS_PART = 0.2

/** Version `version` at this minute. */
function change(userId: string, version: number, minute: number, status: Status): HistoryChange {
  const devices = status === 'offline' ? [] : (['web'] as const)
  return { userId, version, at: T + minute * MINUTE_MS, status, devices }
}

const keeping = (userId: string, isKept = true, setAt = T) =>
  someSettings(userId, { history: { isKept, setAt } })

const hour = (index: number, minutes: Partial<Record<Status, number>>, users: number): HistoryHour => ({
  hourAt: T + index * HOUR_MS,
  onlineMs: (minutes.online ?? 0) * MINUTE_MS,
  awayMs: (minutes.away ?? 0) * MINUTE_MS,
  busyMs: (minutes.busy ?? 0) * MINUTE_MS,
  users,
})

export function checkArchiveHistory(archive: () => Archive, propertyRuns: number): void {
  const keep = (...userIds: string[]) => archive().writeSettings(userIds.map((userId) => keeping(userId)))
  const write = (...changes: HistoryChange[]) => archive().history.write(changes, 0)
  const hoursUntil = (minute: number) => archive().history.hours(T, T + 100 * HOUR_MS, T + minute * MINUTE_MS)
  /** Status, first and last minute of each interval. */
  async function kept(userId: string) {
    const rows = await archive().history.read(userId, ALWAYS)
    const minute = (at: number | null) => (at === null ? null : (at - T) / MINUTE_MS)
    return rows.map(({ status, fromAt, toAt }) => [status, minute(fromAt), minute(toAt)])
  }

  describe('history', () => {
    test('[X6] an interval ends where the next begins, and offline time is none', async () => {
      await keep('anna')
      await write(change('anna', 1, 5, 'online'), change('anna', 2, 20, 'away'))
      await write(change('anna', 3, 30, 'offline'), change('anna', 7, 90, 'busy'))
      expect(await kept('anna')).toEqual([
        ['online', 5, 20],
        ['away', 20, 30],
        ['busy', 90, null],
      ])
      expect(await hoursUntil(150)).toEqual([
        hour(0, { online: 15, away: 10 }, 1),
        hour(1, { busy: 30 }, 1),
        hour(2, { busy: 30 }, 1),
      ])
    })

    test('[X6] a change that comes again, or only changes the order of devices, changes nothing', async () => {
      await keep('anna')
      const at = (version: number, minute: number, devices: HistoryChange['devices']) => ({
        ...change('anna', version, minute, 'online'),
        devices,
      })
      const all = [at(1, 5, ['web', 'mobile']), at(2, 10, ['mobile', 'web']), at(3, 20, ['web'])]
      // The custom status changed, and the user left.
      all.push(at(4, 30, ['web']), change('anna', 5, 40, 'offline'))
      for (const round of [all, all, all.slice(1), all.slice(3), all.slice(4)]) await write(...round)
      expect(await kept('anna')).toEqual([
        ['online', 5, 20],
        ['online', 20, 40],
      ])
      expect(await hoursUntil(150)).toEqual([hour(0, { online: 35 }, 1)])
      const [first] = await archive().history.read('anna', ALWAYS)
      expect(first).toMatchObject({ devices: ['web', 'mobile'], version: 1, isFirstOfHour: true })
    })

    test('[X6] only users who keep a history have one, from the instant of the choice', async () => {
      const changes = ['anna', 'bob', 'carol', 'dave'].flatMap((userId) => [
        change(userId, 1, 5, 'online'),
        change(userId, 2, 15, 'busy'),
      ])
      await archive().writeSettings([
        keeping('anna', true, T + 10 * MINUTE_MS),
        keeping('bob', false),
        someSettings('carol'),
      ])
      await write(...changes)
      for (const userId of ['bob', 'carol', 'dave']) expect(await kept(userId)).toEqual([])
      expect(await kept('anna')).toEqual([['busy', 15, null]])
      const since = ['anna', 'bob', 'carol', 'dave'].map((userId) => archive().history.keepsSince(userId))
      expect(await Promise.all(since)).toEqual([T + 10 * MINUTE_MS, null, null, null])
    })

    test('[X6] a user who refuses is forgotten, in the hours too, and what is late does not come back', async () => {
      await keep('anna', 'bob')
      for (const userId of ['anna', 'bob'])
        await write(change(userId, 1, 5, 'online'), change(userId, 2, 70, 'offline'))
      await archive().writeSettings([keeping('anna', false, T + 80 * MINUTE_MS)])
      expect(await archive().history.refusing('')).toEqual({ userIds: ['anna'], lastId: null })
      await archive().history.forget('anna')
      await archive().history.forget('bob')
      await write(change('anna', 3, 90, 'online'))
      expect(await kept('anna')).toEqual([])
      expect(await kept('bob')).toEqual([['online', 5, 70]])
      expect(await hoursUntil(150)).toEqual([hour(0, { online: 55 }, 1), hour(1, { online: 10 }, 1)])
      expect(await archive().history.refusing('')).toEqual({ userIds: [], lastId: null })

      await archive().writeSettings([keeping('anna', true, T + 100 * MINUTE_MS)])
      await write(change('anna', 1, 5, 'online'), change('anna', 4, 110, 'online'))
      expect(await kept('anna')).toEqual([['online', 110, null]])
    })

    test('[X6] the hours have no lasting interval of a user who refuses, before it is deleted', async () => {
      await keep('anna', 'bob', 'carol', 'dave')
      for (const userId of ['anna', 'bob', 'carol', 'dave']) await write(change(userId, 1, 5, 'online'))
      expect(await hoursUntil(60)).toEqual([hour(0, { online: 4 * 55 }, 4)])
      // One refuses, one is being erased, and one refused and allowed it again.
      await archive().writeSettings([keeping('anna', false, T + 10 * MINUTE_MS)])
      await archive().beginErasure('bob', T)
      await archive().writeSettings([keeping('carol', true, T + 20 * MINUTE_MS)])
      expect(await hoursUntil(60)).toEqual([hour(0, { online: 55 }, 1)])
    })

    test('[X6] rows of before a refusal that was taken back are found and forgotten', async () => {
      await keep('anna')
      await write(change('anna', 1, 5, 'online'), change('anna', 2, 70, 'away'))
      await archive().writeSettings([keeping('anna', true, T + 80 * MINUTE_MS)])
      await write(change('anna', 3, 90, 'online'))
      expect((await archive().history.refusing('')).userIds).toEqual(['anna'])
      await archive().history.forget('anna')
      expect(await kept('anna')).toEqual([['online', 90, null]])
      expect(await hoursUntil(150)).toEqual([hour(1, { online: 30 }, 1), hour(2, { online: 30 }, 1)])
    })

    test('[X6] an erasure takes it out of rows and hours, also what comes late', async () => {
      await keep('anna', 'bob')
      for (const userId of ['anna', 'bob']) await write(change(userId, 1, 5, 'online'))
      await archive().beginErasure('anna', T)
      await write(change('anna', 2, 30, 'offline'))
      expect(await archive().history.keepsSince('anna')).toBeNull()
      await archive().erase('anna')
      await archive().endErasure('anna', T)
      await write(change('anna', 2, 30, 'offline'), change('anna', 3, 40, 'busy'))
      await write(change('bob', 2, 30, 'offline'))
      expect(await kept('anna')).toEqual([])
      expect(await hoursUntil(150)).toEqual([hour(0, { online: 25 }, 1)])
    })

    test('[X6] what ended before the cut is deleted; what lasted beyond it stays', async () => {
      await keep('anna', 'bob', 'carol')
      await write(
        change('anna', 1, 5, 'online'),
        change('anna', 2, 70, 'away'),
        change('anna', 3, 130, 'offline'),
      )
      await write(change('bob', 1, 5, 'online'))
      const cut = T + 2 * HOUR_MS
      await archive().history.trim(cut)
      expect(await kept('anna')).toEqual([['away', 70, 130]])
      expect(await kept('bob')).toEqual([['online', 5, null]])
      expect(await archive().history.hours(cut, cut + 9 * HOUR_MS, cut + HOUR_MS)).toEqual([
        hour(2, { online: 60, away: 10 }, 2),
      ])
      await archive().history.write([change('carol', 1, 5, 'online'), change('carol', 2, 125, 'busy')], cut)
      expect(await kept('carol')).toEqual([['busy', 125, null]])
    })

    test('[X6] the days for which it is kept are remembered as long as there is any', async () => {
      await archive().history.keepDays(30)
      expect(await archive().history.keptDays()).toBeNull()
      await keep('anna')
      await write(change('anna', 1, 5, 'online'), change('anna', 2, 20, 'offline'))
      expect(await archive().history.keptDays()).toBe(30)
      await archive().history.keepDays(7)
      expect(await archive().history.keptDays()).toBe(7)
      await archive().history.trim(T + 2 * HOUR_MS)
      expect(await archive().history.keptDays()).toBeNull()
    })

    test('[X6] a part is read page by page, with the interval that was under way at its start', async () => {
      await keep('anna')
      for (let n = 0; n < 10; n++)
        await write(
          change('anna', 2 * n, 20 * n, 'online'),
          change('anna', 2 * n + 1, 20 * n + 10, 'offline'),
        )
      const span = { fromAt: T + 45 * MINUTE_MS, toAt: T + 125 * MINUTE_MS, limit: 2 }
      const versions: number[] = []
      for (let after: HistorySpan['after'] = null; ; ) {
        const page = await archive().history.read('anna', { ...span, after })
        versions.push(...page.map(({ version }) => version))
        if (page.length < span.limit) break
        after = page.at(-1)!
      }
      expect(versions).toEqual([4, 6, 8, 10, 12])
    })

    test('[X6] a departure that was not heard of is found in the last-seen row', async () => {
      await keep('anna', 'bob', 'carol')
      for (const userId of ['anna', 'bob', 'carol']) await write(change(userId, 5, 10, 'online'))
      await archive().writeLastSeen([
        aLastSeen('anna', { version: 6, lastSeenAt: T + 40 * MINUTE_MS, updatedAt: T + 41 * MINUTE_MS }),
        aLastSeen('bob', { version: 6, status: 'here', updatedAt: T }),
        aLastSeen('carol', { version: 6, lastSeenAt: T, updatedAt: T + 90 * MINUTE_MS }),
      ])
      const before = T + 60 * MINUTE_MS
      const found = await archive().history.unended(before, '')
      expect(found).toEqual([change('anna', 6, 40, 'offline')])
      expect(await archive().history.unended(before, 'anna')).toEqual([])
      await write(...found)
      expect(await kept('anna')).toEqual([['online', 10, 40]])
      expect(await archive().history.unended(before, '')).toEqual([])
    })

    test('[X6] two writers of the same changes, and a refusal meanwhile, leave what one would', async () => {
      const ids = ['anna', 'bob', 'carol']
      await keep(...ids)
      const rounds = [
        ids.map((userId) => change(userId, 1, 5, 'online')),
        ids.toReversed().map((userId) => change(userId, 2, 45, 'offline')),
      ]
      for (const round of rounds) await Promise.all([write(...round), write(...round.toReversed())])
      expect(await hoursUntil(60)).toEqual([hour(0, { online: 120 }, 3)])

      const refuse = async () => {
        await archive().writeSettings([keeping('anna', false, T + 50 * MINUTE_MS)])
        await archive().history.forget('anna')
      }
      const late = Array.from({ length: 20 }, (_, n) =>
        write(change('anna', 3 + n, 70 + n, n % 2 ? 'away' : 'busy')),
      )
      await Promise.all([...late, refuse(), archive().history.forget('anna')])
      expect(await kept('anna')).toEqual([])
      expect(await hoursUntil(60)).toEqual([hour(0, { online: 80 }, 2)])
    })

    let runs = 0
    /** Users of the run before, also of one that failed. */
    const earlier: string[] = []
    async function forgetAll(userIds: readonly string[]): Promise<void> {
      await archive().writeSettings(userIds.map((userId) => keeping(userId, false, T + 2)))
      for (const userId of userIds) await archive().history.forget(userId)
    }
    test('[X6] hours are the sum of what is kept, when changes come again and when a user is forgotten', () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(aLife, { minLength: 1, maxLength: 4 }),
          fc.array(fc.nat(), { minLength: 1, maxLength: 6 }),
          async (lives, cuts) => {
            runs += 1
            await forgetAll(earlier.splice(0))
            const ids = lives.map((_, n) => `run-${runs}-${n}`)
            earlier.push(...ids)
            await keep(...ids)
            const changes = lives.flatMap((life, n) => changesOf(ids[n]!, life))
            // In the order of time, with a part of it again and again.
            changes.sort((a, b) => a.at - b.at)
            let from = 0
            for (const cut of cuts) {
              const to = Math.max(from, cut % (changes.length + 1))
              await write(...changes.slice(Math.max(0, from - 3), to))
              from = to
            }
            await write(...changes.slice(Math.max(0, from - 3)))
            expect(await hoursUntil(UNTIL_MINUTE)).toEqual(hoursOfLives(lives))
            await archive().writeSettings([keeping(ids[0]!, false, T + 1)])
            await archive().history.forget(ids[0]!)
            expect(await hoursUntil(UNTIL_MINUTE)).toEqual(hoursOfLives(lives.slice(1)))
          },
        ),
        { numRuns: Math.ceil(propertyRuns * PROPERTY_RUNS_PART), includeErrorInReport: true },
      ))
  })
}

const SLOTS = 30
const UNTIL_MINUTE = (SLOTS * SLOT_MS) / MINUTE_MS

/** The status of a user in each slot of time. */
const aLife = fc.array(fc.constantFrom<Status>('online', 'away', 'busy', 'offline', 'offline'), {
  minLength: SLOTS,
  maxLength: SLOTS,
})

function changesOf(userId: string, life: readonly Status[]): HistoryChange[] {
  const changes: HistoryChange[] = []
  let before: Status = 'offline'
  for (const [slot, status] of life.entries()) {
    if (status === before) continue
    changes.push(change(userId, slot + 1, (slot * SLOT_MS) / MINUTE_MS, status))
    before = status
  }
  return changes
}

/** Counted slot by slot. */
function hoursOfLives(lives: readonly (readonly Status[])[]): HistoryHour[] {
  const slotsPerHour = HOUR_MS / SLOT_MS
  const hours: HistoryHour[] = []
  for (let index = 0; index < SLOTS / slotsPerHour; index++) {
    const parts = lives.map((life) => life.slice(index * slotsPerHour, (index + 1) * slotsPerHour))
    const minutesOf = (status: Status) =>
      (parts.flat().filter((one) => one === status).length * SLOT_MS) / MINUTE_MS
    const users = parts.filter((part) => part.some((status) => status !== 'offline')).length
    if (users === 0) continue
    hours.push(
      hour(index, { online: minutesOf('online'), away: minutesOf('away'), busy: minutesOf('busy') }, users),
    )
  }
  return hours
}
