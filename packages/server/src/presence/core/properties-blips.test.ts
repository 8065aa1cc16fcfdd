// Random blips: a device that comes back before its delay is over was never gone. Each history starts with a
// user who is present (or away), and then only blips happen, so any visible change is a failure.
import { expect, test } from 'bun:test'
import type { Activity } from '@greendot/protocol'
import fc from 'fast-check'
import {
  DAWN_AT,
  type Delivery,
  type History,
  policies,
} from '../../../../../testing/worlds/presence-histories.ts'
import { everyRecord, holds } from '../../../../../testing/worlds/presence-properties.ts'
import {
  active,
  choose,
  closed,
  connected,
  idle,
  left,
  lost,
  say,
} from '../../../../../testing/worlds/presence-user.ts'
import type { PresenceEvent } from './event.ts'
import { toPresence } from './view.ts'

const NAMES = ['web', 'mobile', 'desktop'] as const
type Name = (typeof NAMES)[number]

/** Everything that was shown from `fromAt` on. */
function seenFrom(history: History, fromAt: number) {
  const seen = everyRecord(history).filter(({ at }) => at >= fromAt)
  return seen.map(({ record }) => toPresence('alice', record))
}

const activities = fc.constantFrom<Activity>('active', 'idle')
const settings = fc.subarray<PresenceEvent>([choose('busy', DAWN_AT), say('lunch', DAWN_AT)])

/** Tabs per device, with the activity of each, in random order. */
const homes = fc.array(fc.record({ name: fc.constantFrom(...NAMES), activity: activities }), {
  minLength: 1,
  maxLength: 6,
})

interface Tab {
  id: `${Name}#${number}`
  name: Name
}

/** Opens the tabs, one millisecond apart, and reports their activity one second later. */
function settleIn(tabs: readonly (Tab & { activity: Activity })[]): Delivery[] {
  return [
    ...tabs.map(({ id }, index) => ({ now: DAWN_AT + index, events: [connected(id, DAWN_AT + index)] })),
    ...tabs.map(({ id, activity }, index) => {
      const now = DAWN_AT + 1_000 + index
      // Idle tabs keep the activity of their arrival, so that the order of devices varies.
      const lastActiveAt = DAWN_AT + index
      return { now, events: [activity === 'active' ? active(id, now) : idle(id, now, { lastActiveAt })] }
    }),
  ]
}

test('[P15] [P16] [D6] [C8] devices that go and come back within the offline delay were never away', () => {
  const forgiving = policies.filter((policy) => policy.offlineDelayMs > 0)
  const blips = fc.array(
    fc.record({
      /** Devices that go, all their tabs at once; one tab of each comes back. */
      who: fc.subarray([...NAMES], { minLength: 1 }),
      how: fc.constantFrom('closed', 'lost'),
      together: fc.boolean(),
      /** Whether those that come back say the activity that the device has. */
      isStated: fc.boolean(),
      /** The share of the delay that passes before each device is back. */
      share: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  holds(
    fc.property(forgiving, homes, settings, blips, (policy, home, settings, blips) => {
      let opened = 0
      let tabs = home.map((tab) => ({ ...tab, id: `${tab.name}#${++opened}` as const }))
      const deliveries = settleIn(tabs)
      let now = DAWN_AT + 1_000_000
      deliveries.push({ now, events: settings })
      const quietAt = now
      for (const { who, how, together, isStated, share } of blips) {
        now += 1_000_000
        const going = tabs.filter((tab) => who.includes(tab.name))
        // With lingering, a loss is visible as soon as it is found: that is no blip.
        const end = ({ id }: Tab): PresenceEvent =>
          how === 'closed' || policy.lingerMs > 0
            ? closed(id, now)
            : lost(id, now, now - policy.heartbeatTtlMs)
        if (together) deliveries.push({ now, events: going.map(end) })
        else deliveries.push(...going.map((tab) => ({ now, events: [end(tab)] })))
        const back = who
          .filter((name) => going.some((tab) => tab.name === name))
          .map((name, index) => {
            // Rounded down and one less: at the deadline it is too late.
            const gapMs = Math.floor((share[index] ?? 0) * (policy.offlineDelayMs - 1))
            const isActive = going.some((tab) => tab.name === name && tab.activity === 'active')
            const activity: Activity = isActive ? 'active' : 'idle'
            return { name, activity, id: `${name}#${++opened}` as const, at: now + gapMs }
          })
          .sort((a, b) => a.at - b.at)
        for (const { id, at, activity } of back) {
          const said = activity === 'active' ? active(id, at) : idle(id, at, { lastActiveAt: at })
          deliveries.push({ now: at, events: [isStated ? said : connected(id, at)] })
        }
        tabs = [...tabs.filter((tab) => !going.includes(tab)), ...back]
      }
      const [first, ...rest] = seenFrom({ policy, deliveries }, quietAt)
      for (const presence of rest) expect(presence).toEqual(first!)
    }),
  )
})

test('[P14] [P16] [D6] arrivals that end before the online delay were never visible, however they ended', () => {
  const waiting = policies.filter((policy) => policy.onlineDelayMs > 0)
  const arrivals = fc.array(
    fc.record({
      name: fc.constantFrom(...NAMES),
      gapMs: fc.oneof(fc.nat(50), fc.nat(30_000)),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      how: fc.constantFrom('left', 'closed', 'lost'),
    }),
    { minLength: 1, maxLength: 8 },
  )
  holds(
    fc.property(waiting, settings, arrivals, (policy, settings, arrivals) => {
      const deliveries: Delivery[] = [{ now: DAWN_AT, events: settings }]
      let now = DAWN_AT
      for (const [index, { name, gapMs, share, how }] of arrivals.entries()) {
        now += gapMs + 1
        const id = `${name}#${index}` as const
        const endAt = now + Math.floor(share * (policy.onlineDelayMs - 1))
        const end = { left: left(id, endAt), closed: closed(id, endAt), lost: lost(id, endAt, now) }[how]
        // An end within the millisecond of the arrival would not be newer than it.
        if (endAt === now) continue
        deliveries.push({ now, events: [connected(id, now)] }, { now: endAt, events: [end] })
      }
      deliveries.sort((a, b) => a.now - b.now)
      const [first, ...rest] = seenFrom({ policy, deliveries }, DAWN_AT)
      for (const presence of rest) expect(presence).toEqual(first!)
    }),
  )
})
