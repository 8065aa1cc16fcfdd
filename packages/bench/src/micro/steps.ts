// The pure machine: events a second through `step`, for users that flip between active and idle, beside
// the least that any step without mutation could do: copy the record, its session and what is shown.
import { step } from '../../../server/src/presence/core/machine.ts'
import { type Micro, perCpuSecond, sideBySide } from './measure.ts'
import { arrived, policy, sessionOf } from './setup/users.ts'

const USERS = 1_000
const STARTED_AT = 1_700_000_000_000

export const steps: Micro = {
  name: 'steps',
  about: 'events through the pure machine, beside copying the record by hand',
  missing: () => null,
  async run({ rounds, roundMs }) {
    const records = Array.from({ length: USERS }, (_, user) => arrived(user, 'active'))
    let now = STARTED_AT
    let isIdle = false

    function flipAll(): number {
      now += 1_000
      isIdle = !isIdle
      const type = isIdle ? 'idle' : 'active'
      for (const [user, record] of records.entries()) {
        const event = { type, activity: type, at: now, ...sessionOf(user, STARTED_AT) } as const
        records[user] = step(record, [event], now, policy).record
      }
      return USERS
    }

    const copies = records.slice()
    function copyAll(): number {
      now += 1_000
      for (const [user, record] of copies.entries()) {
        const sessions = record.sessions.map((session) => ({ ...session, eventAt: now }))
        const shown = { ...record.shown, since: now }
        copies[user] = { ...record, sessions, shown, version: record.version + 1, settledAt: now }
      }
      return USERS
    }

    return [
      await sideBySide(
        { name: 'step', unit: 'events per CPU-second', rounds },
        perCpuSecond(roundMs, flipAll),
        perCpuSecond(roundMs, copyAll),
      ),
    ]
  },
}
