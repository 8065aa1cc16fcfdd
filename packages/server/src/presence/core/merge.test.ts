// Merging devices into one status (SPEC P7 to P9): examples, and the matrix of two devices that end in every
// way, in every order, under every preset.
import { describe, expect, test } from 'bun:test'
import type { Activity, Platform, Status } from '@greendot/protocol'
import {
  active,
  choose,
  closed,
  connected,
  createUser,
  idle,
  left,
  lost,
  say,
} from '../../../../../testing/worlds/presence-user.ts'
import { POLICIES, POLICY_NAMES, type PolicyName } from './policy.ts'

const { instant } = POLICIES
const T = 10_000_000

test('[P7] [D7] any active session is online, all idle is away, none is offline', () => {
  const alice = createUser(instant)
  expect(alice.at(T).status).toBe('offline')
  expect(alice.at(T + 1, connected('web#1', T + 1), connected('mobile#1', T + 1)).status).toBe('online')
  expect(alice.at(T + 2, idle('web#1', T + 2)).status).toBe('online')
  expect(alice.at(T + 3, idle('mobile#1', T + 3)).status).toBe('away')
  expect(alice.at(T + 4, active('web#1', T + 4)).status).toBe('online')
  expect(alice.at(T + 5, left('web#1', T + 5)).status).toBe('away')
  expect(alice.at(T + 6, left('mobile#1', T + 6)).status).toBe('offline')
})

describe('[P8] [S1] a manual status', () => {
  test.each(['away', 'busy'] as const)('[P8] %s replaces online and away', (choice) => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    expect(alice.at(T + 1, choose(choice, T + 1)).status).toBe(choice)
    expect(alice.at(T + 2, idle('web#1', T + 2)).status).toBe(choice)
    expect(alice.at(T + 3, choose('auto', T + 3)).status).toBe('away')
    expect(alice.at(T + 4, active('web#1', T + 4)).status).toBe('online')
  })

  test('[P8] ends at its expiry', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), choose('busy', T, T + 60_000))
    expect(alice.at(T + 59_999).status).toBe('busy')
    expect(alice.at(T + 60_000).status).toBe('online')
  })

  test('[P8] does not make an absent user present, and counts when the user comes', () => {
    const alice = createUser(instant)
    expect(alice.at(T, choose('busy', T)).status).toBe('offline')
    expect(alice.at(T + 1, connected('web#1', T + 1)).status).toBe('busy')
    alice.at(T + 2, closed('web#1', T + 2))
    expect(alice.at(T + 5_001).status).toBe('busy')
    expect(alice.at(T + 5_002).status).toBe('offline')
  })

  test('[P8] [P13] does not count while the user only lingers', () => {
    const alice = createUser(POLICIES.linger)
    alice.at(T, connected('web#1', T), choose('busy', T))
    alice.at(T + 10, closed('web#1', T + 10))
    expect(alice.at(T + 5_010)).toMatchObject({ status: 'away', devices: [] })
  })
})

describe('[P9] [D7] the list of devices', () => {
  test('[P9] active ones first, then by last activity, newest first', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), connected('mobile#1', T + 1), connected('desktop#1', T + 2))
    expect(alice.at(T + 2).devices).toEqual(['desktop', 'mobile', 'web'])
    expect(alice.at(T + 3, active('web#1', T + 3)).devices).toEqual(['web', 'desktop', 'mobile'])
    // Idle sessions come after active ones, however long they have been idle.
    expect(alice.at(T + 4, idle('web#1', T + 4)).devices).toEqual(['desktop', 'mobile', 'web'])
    expect(alice.at(T + 5, idle('desktop#1', T + 5)).devices).toEqual(['mobile', 'web', 'desktop'])
    expect(alice.at(T + 6, idle('mobile#1', T + 6)).devices).toEqual(['web', 'desktop', 'mobile'])
  })

  test('[P9] equal instants still give one order', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), connected('mobile#1', T), connected('desktop#1', T))
    expect(alice.at(T).devices).toEqual(['desktop', 'mobile', 'web'])
  })

  test('[P9] a platform is listed once, at the place of its best session', () => {
    const alice = createUser(instant)
    alice.at(
      T,
      connected('web#1', T),
      connected('mobile#1', T + 1),
      connected('web#2', T + 2, { deviceId: 'kiosk' }),
    )
    expect(alice.at(T + 2).devices).toEqual(['web', 'mobile'])
    expect(alice.at(T + 3, left('web#2', T + 3)).devices).toEqual(['mobile', 'web'])
  })

  test('[P9] a second tab that comes and goes at the same place is not a change', () => {
    const alice = createUser(instant)
    const before = alice.at(T, connected('web#1', T))
    alice.at(T + 1, connected('web#2', T + 1))
    expect(alice.at(T + 2, left('web#2', T + 2))).toEqual(before)
  })

  test('[P9] [P13] a user who only lingers has no device', () => {
    const alice = createUser(POLICIES.linger)
    alice.at(T, connected('web#1', T), connected('mobile#1', T))
    alice.at(T + 10, closed('mobile#1', T + 10))
    expect(alice.at(T + 5_010)).toMatchObject({ status: 'online', devices: ['web'] })
    expect(alice.at(T + 5_011, left('web#1', T + 5_011))).toMatchObject({ status: 'away', devices: [] })
  })

  test('[P9] a custom status does not change it', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), connected('mobile#1', T))
    expect(alice.at(T + 1, say('lunch', T + 1)).devices).toEqual(['mobile', 'web'])
  })
})

type How = 'left' | 'closed' | 'lost'
// How long after its end a session keeps its vote, and how long it then lingers as away. A lost session ends
// with its time to live, and lingering counts from the last proof of life, which is earlier.
const FIGURES: Record<PolicyName, Record<How, { keepsMs: number; aroundMs: number }>> = {
  instant: {
    left: { keepsMs: 0, aroundMs: 0 },
    closed: { keepsMs: 5_000, aroundMs: 5_000 },
    lost: { keepsMs: 5_000, aroundMs: 5_000 },
  },
  calm: {
    left: { keepsMs: 0, aroundMs: 0 },
    closed: { keepsMs: 30_000, aroundMs: 30_000 },
    lost: { keepsMs: 30_000, aroundMs: 30_000 },
  },
  linger: {
    left: { keepsMs: 0, aroundMs: 0 },
    closed: { keepsMs: 5_000, aroundMs: 300_000 },
    lost: { keepsMs: 0, aroundMs: 270_000 },
  },
}

interface Leaver {
  platform: Extract<Platform, 'web' | 'mobile'>
  activity: Activity
  lastActiveAt: number
  how: How
  endAt: number
}

function expectedAt(
  leavers: readonly Leaver[],
  at: number,
  name: PolicyName,
): { status: Status; devices: Platform[] } {
  const figures = FIGURES[name]
  const full = leavers.filter(({ how, endAt }) => at < endAt || at < endAt + figures[how].keepsMs)
  const around = leavers.some(({ how, endAt }) => at < endAt + figures[how].aroundMs)
  const ahead = (one: Leaver) => (one.activity === 'active' ? 1e12 : 0) + one.lastActiveAt
  const devices = full.toSorted((a, b) => ahead(b) - ahead(a)).map(({ platform }) => platform)
  if (full.some(({ activity }) => activity === 'active')) return { status: 'online', devices }
  return { status: full.length > 0 || around ? 'away' : 'offline', devices }
}

describe.each([...POLICY_NAMES])('[D7] [P7] two devices under %s', (name) => {
  const policy = POLICIES[name]
  const endOf = ({ platform, how, endAt }: Leaver) => {
    const id = `${platform}#1` as const
    if (how === 'lost') return lost(id, endAt, endAt - policy.heartbeatTtlMs)
    return how === 'left' ? left(id, endAt) : closed(id, endAt)
  }
  const HOWS: How[] = ['left', 'closed', 'lost']
  const ACTIVITIES: Activity[] = ['active', 'idle']

  test.each(ACTIVITIES.flatMap((web) => ACTIVITIES.map((mobile) => [web, mobile] as const)))(
    'web %s and mobile %s, ending in every way and order',
    (web, mobile) => {
      for (const webHow of HOWS)
        for (const mobileHow of HOWS)
          for (const first of ['web', 'mobile'])
            for (const gapMs of [0, 1, 4_999, 5_000, 29_000, 40_000, 280_000, 400_000]) {
              const endAt = T + 1_000_000
              const leavers: Leaver[] = [
                { platform: 'web', activity: web, lastActiveAt: T + 10, how: webHow, endAt },
                { platform: 'mobile', activity: mobile, lastActiveAt: T + 20, how: mobileHow, endAt },
              ]
              if (first === 'mobile') leavers.reverse()
              leavers[1]!.endAt += gapMs
              const alice = createUser(policy)
              alice.at(T, connected('web#1', T), connected('mobile#1', T))
              const reports = { active, idle }
              alice.at(T + 10, reports[web]('web#1', T + 10, { lastActiveAt: T + 10 }))
              alice.at(T + 20, reports[mobile]('mobile#1', T + 20, { lastActiveAt: T + 20 }))
              const instants = new Set<number>()
              for (const { how, endAt } of leavers) {
                const { keepsMs, aroundMs } = FIGURES[name][how]
                for (const at of [endAt, endAt + keepsMs, endAt + aroundMs]) instants.add(at - 1).add(at)
              }
              for (const at of [...instants].sort((a, b) => a - b)) {
                for (const one of leavers) if (one.endAt === at) alice.at(at, endOf(one))
                const { status, devices } = alice.at(at)
                const where = `${webHow}/${mobileHow}, ${first} first, gap ${gapMs}, at +${at - endAt}`
                expect({ where, status, devices }).toEqual({ where, ...expectedAt(leavers, at, name) })
              }
              expect(alice.dueAt()).toBeNull()
            }
    },
  )
})
