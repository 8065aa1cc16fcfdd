// Connections that watch people whose privacy and contact lists change, for tests of what each of them is
// told: people are changed by hand, and edges are made step by step as the gateway does.
import type { Presence } from '@greendot/protocol'
import { isInDoubt, sightOf } from '../packages/server/src/gateway/delivery/edge-flags.ts'
import { NO_PRIVACY_CHOSEN, type Privacy } from '../packages/server/src/presence/core/privacy.ts'
import {
  createGatewayWorld,
  FLUSH_MS,
  type GatewayWorldOptions,
  WORLD_STARTS_AT as NOW,
} from './gateway-world.ts'

export type SightsWorld = Awaited<ReturnType<typeof createSightsWorld>>

/** Connections are rows of `viewers`. */
export async function createSightsWorld(options: GatewayWorldOptions = {}) {
  const viewers = options.viewers ?? ['alice', 'mallory']
  const heard = viewers.map((): Presence[] => [])
  const hear = (connection: number, frame: string) => {
    heard[connection]!.push(...JSON.parse(frame).changes)
  }
  const world = await createGatewayWorld({ ...options, viewers, hear })
  const { clock, archive, interner, discretions, targets, outbox, sights } = world
  const { index } = outbox

  function show(userId: string, text: string | null): void {
    const known = interner.find(userId)
    const target = known === -1 ? interner.acquire(userId) : known
    const version = targets.isKnown(target) ? targets.version(target) + 1 : 1
    const presence: Presence = {
      user_id: userId,
      status: 'online',
      last_seen: NOW,
      custom_status: text === null ? null : { text, emoji: null, expires_at: null },
      devices: ['web'],
      version,
    }
    targets.update(target, version, JSON.stringify(presence), clock.now())
    outbox.markTarget(target)
  }

  const edgeOf = (connection: number, userId: string) => index.find(connection, interner.find(userId))

  return {
    ...world,
    show,
    edgeOf,
    isInDoubt: (connection: number, userId: string) => isInDoubt(index.flags(edgeOf(connection, userId))),
    /** What came since this was last asked, after everything has calmed down. */
    async hears(connection: number): Promise<Presence[]> {
      await clock.advance(2 * FLUSH_MS)
      return heard[connection]!.splice(0)
    },
    /** Watches as the gateway does: decide, then in one turn the edge and the snapshot. */
    async watch(connection: number, userId: string, meanwhile = () => {}): Promise<Presence> {
      const target = interner.acquire(userId)
      if (!targets.isKnown(target)) show(userId, null)
      const decisions = await world.done(Promise.resolve(sights.decide(connection, [target])))
      meanwhile()
      index.watch(connection, target)
      const edge = index.firstTarget(connection)
      sights.place(edge, decisions[0]!)
      return JSON.parse(targets.seen(target, sightOf(index.flags(edge))))
    },
    /** In how many turns of the loop it is decided; with a gateway that knows them all. */
    async turnsToDecide(connection: number, userIds: readonly string[]): Promise<number> {
      let turns = 0
      let isDecided = false
      const decided = Promise.resolve(sights.decide(connection, userIds.map(interner.acquire)))
      void decided.then(() => {
        isDecided = true
      })
      while (!isDecided) {
        await clock.advance(0)
        turns++
      }
      return turns
    },
    decidesAtOnce: (connection: number, userId: string) =>
      Array.isArray(sights.decide(connection, [interner.acquire(userId)])),
    unwatch(connection: number, userId: string): void {
      const target = interner.find(userId)
      index.unwatch(connection, target)
      interner.release(target)
    },
    guard(userId: string, change: Partial<Privacy>): void {
      const user = interner.acquire(userId)
      const before = discretions.of(user).privacy ?? NO_PRIVACY_CHOSEN
      const privacy = { ...before, ...change, setAt: world.nextStamp() }
      if (discretions.learn(user, { privacy, contactsAt: 0 })) sights.review(user)
    },
    async list(userId: string, contactIds: string[]): Promise<void> {
      await archive.replaceContacts(userId, contactIds, NOW)
      const user = interner.acquire(userId)
      if (discretions.learn(user, { privacy: null, contactsAt: world.nextStamp() })) sights.review(user)
    },
  }
}
