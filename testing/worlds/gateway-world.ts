// A gateway by a fake clock, built from its real parts as gateway.ts builds them; only the HTTP server is
// missing. Viewers are connections without a session, sessions are opened with `connect`. Liveness and
// membership are left to the tests that need them: their timers would never end.
import type { Presence, ServerFrame } from '@greendot/protocol'
import { createConnectionNumbers } from '../../packages/server/src/gateway/connection-numbers.ts'
import { createDelivery } from '../../packages/server/src/gateway/delivery/delivery.ts'
import { ALL_AT_ONCE, type Plans } from '../../packages/server/src/gateway/delivery/plans.ts'
import { FOLLOWED, NAMED } from '../../packages/server/src/gateway/delivery/watch-edges.ts'
import type { Pace } from '../../packages/server/src/gateway/delivery/waves.ts'
import { createIdentity } from '../../packages/server/src/gateway/identity.ts'
import { createInbox } from '../../packages/server/src/gateway/inbox.ts'
import { createInterner } from '../../packages/server/src/gateway/interner.ts'
import { createDisconnecting } from '../../packages/server/src/gateway/sessions/disconnecting.ts'
import { createEndedSessions } from '../../packages/server/src/gateway/sessions/ended-sessions.ts'
import { createForeignSessions } from '../../packages/server/src/gateway/sessions/foreign-sessions.ts'
import { createFrameHandler } from '../../packages/server/src/gateway/sessions/frames.ts'
import { createHttpSessions } from '../../packages/server/src/gateway/sessions/http-sessions.ts'
import { createOwnViews } from '../../packages/server/src/gateway/sessions/own-views.ts'
import {
  createSessionTable,
  type Opening,
  type Socket,
} from '../../packages/server/src/gateway/sessions/session-table.ts'
import { createSessions } from '../../packages/server/src/gateway/sessions/sessions.ts'
import { createSockets } from '../../packages/server/src/gateway/sessions/sockets.ts'
import { createStreams } from '../../packages/server/src/gateway/sessions/streams.ts'
import { createWatching } from '../../packages/server/src/gateway/watching/watching.ts'
import { NIL } from '../../packages/server/src/platform/typed-arrays.ts'
import type { Privacy, PrivacyRules } from '../../packages/server/src/presence/core/privacy.ts'
import { presencesIn } from '../clients/hearing.ts'
import { createFakeClock, untilDone } from './fake-clock.ts'
import { createPresenceParts } from './presence-parts.ts'
import { OPEN_RULES, SOME_INSTANT } from './records.ts'

export const FLUSH_MS = 50
/** The one that checks the streams is set as long as the world exists. */
export const STREAM_TIMERS = 1
/** Versions count from 2025 on, so nothing here happens before. */
export const WORLD_STARTS_AT = SOME_INSTANT + 50_000_000_000

export interface GatewayWorldOptions {
  rules?: PrivacyRules
  /** The users behind the connections 0, 1 and so on. */
  viewers?: readonly string[]
  watchLimit?: number
  streamsPerUser?: number
  /** How changes reach large audiences; without it, all at once. */
  plans?: Plans
  pace?: Pace
  /** Whether a token is refused at the moment a connection begins. */
  isRefused?(userId: string, issuedAt: number | null): boolean
  /** Called with each frame to a viewer. */
  /** Returns `full` where the sink takes no more after this frame, until `unblock` of the delivery. */
  hear?(connection: number, frame: ServerFrame): unknown
}

/** A session with a socket, and the frames it was sent. */
interface Connected {
  row: number
  frames: ServerFrame[]
  /** The codes it was closed with. */
  closedWith: number[]
  socket: Socket
}

export type GatewayWorld = Awaited<ReturnType<typeof createGatewayWorld>>

export async function createGatewayWorld(options: GatewayWorldOptions = {}) {
  const { rules = OPEN_RULES, viewers = [], watchLimit = 500, streamsPerUser = 32, hear } = options
  const { plans = ALL_AT_ONCE, isRefused = () => false } = options
  const clock = createFakeClock(WORLD_STARTS_AT)
  const presence = await createPresenceParts(clock, rules)
  const { archive, bus, faults, policy, tracker } = presence

  const identity = createIdentity()
  const numbers = createConnectionNumbers()
  const interner = createInterner()
  const pace = options.pace === undefined ? {} : { pace: options.pace }
  const delivery = createDelivery({ ...presence, interner, flushMs: FLUSH_MS, plans, ...pace })
  const watching = createWatching({ ...presence, interner, delivery, identity, watchLimit })
  const table = createSessionTable(identity)
  const ownViews = createOwnViews({ table, interner, delivery, watching })
  const disconnects = { isRefused }
  const held = { table, numbers, identity, interner, delivery, watching, ownViews, disconnects }
  const sessions = createSessions({ ...presence, ...held, sessionsPerUser: 32 })
  const streams = createStreams({ ...presence, ...held, watchLimit, streamsPerUser })
  const handleFrame = createFrameHandler({ ...presence, ...held, sessions })
  const sockets = createSockets({ ...presence, ...held, sessions, handleFrame, framesPerSecond: 100 })
  const ended = createEndedSessions(clock, policy.heartbeatTtlMs)
  const httpSessions = createHttpSessions({ ...presence, ...held, sessions, sockets, ended })
  const foreignSessions = createForeignSessions({ table, sessions, sockets, ended, policy, clock })
  const disconnect = createDisconnecting({ table, sessions, sockets, streams, ended })
  const inbox = createInbox({ ...presence, ...held, sessions, sockets, streams, httpSessions })
  const unsubscribe = await bus.subscribe(identity.id(), inbox)

  const heard = viewers.map((): Presence[] => [])
  for (const userId of viewers) openViewer(userId)

  function openViewer(userId: string): void {
    const connection = numbers.take()
    watching.open(connection, userId)
    watching.setVisible(userId, true)
    delivery.attach(connection, {
      send(text) {
        const frame: ServerFrame = JSON.parse(text)
        heard[connection]!.push(...presencesIn(frame))
        return hear?.(connection, frame) === 'full' ? -1 : 1
      },
    })
  }

  function endViewer(connection: number): void {
    delivery.detach(connection)
    watching.close(connection)
    numbers.giveBack(connection)
  }

  const done = <T>(work: Promise<T>): Promise<T> => untilDone(clock, work)

  /** Events of tests never carry the same millisecond. */
  let stamp = WORLD_STARTS_AT
  const nextStamp = () => {
    stamp = Math.max(clock.now(), stamp + 1)
    return stamp
  }

  function write(userId: string, text: string | null): Promise<unknown> {
    const at = nextStamp()
    return tracker.apply(userId, { type: 'set_custom_status', at, text, emoji: null, expiresAt: null })
  }

  async function beginWatch(
    connection: number,
    userIds: readonly string[],
    known: Record<string, number> = {},
  ): Promise<Presence[]> {
    const watched = { known, reason: NAMED, isOpen: () => true } as const
    const states = await watching.watch(connection, userIds, watched)
    return (states ?? []).map((json): Presence => JSON.parse(json))
  }

  /** Opens a session with a socket and waits for its welcome. */
  async function connect(
    userId: string,
    deviceId = 'd1',
    token: Pick<Opening, 'tokenIssuedAt'> = {},
  ): Promise<Connected> {
    const frames: ServerFrame[] = []
    const closedWith: number[] = []
    const opening: Opening = {
      userId,
      deviceId,
      platform: 'web',
      activity: null,
      tokenExpiresAt: null,
      ...token,
    }
    // As much of a socket as the gateway uses.
    const socket = {
      data: opening,
      isPaused: false,
      getBufferedAmount: () => 0,
      send: (frame: string) => frames.push(JSON.parse(frame)),
      close: (code: number) => closedWith.push(code),
    } as unknown as Socket
    sockets.open(socket)
    while (frames.length === 0) await clock.advance(0)
    return { row: socket.data as number, frames, closedWith, socket }
  }

  return {
    ...presence,
    ...held,
    sessions,
    sockets,
    streams,
    httpSessions,
    foreignSessions,
    disconnect,
    inbox,
    /** Stops listening to the bus, for a test that starts membership. */
    unsubscribe,
    done,
    nextStamp,
    write,
    setText: (userId: string, text: string | null) => done(write(userId, text)),
    choose: (userId: string, change: Partial<Privacy>) =>
      done(tracker.apply(userId, { type: 'set_privacy', at: nextStamp(), change })),
    async editContacts(userId: string, contactIds: readonly string[]): Promise<void> {
      await archive.replaceContacts(userId, contactIds, clock.now())
      await done(tracker.apply(userId, { type: 'contacts_changed', at: nextStamp() }))
    },
    /** From now on the archive's answers wait; returns the way to let them go. */
    closeGate(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      faults.gate = promise
      return () => {
        if (faults.gate === promise) faults.gate = null
        resolve()
      }
    },

    beginWatch,
    watch: (connection: number, userIds: readonly string[], known?: Record<string, number>) =>
      done(beginWatch(connection, userIds, known)),
    /** What the viewer was told since this was last asked, once everything was sent. */
    async hears(connection: number): Promise<Presence[]> {
      await clock.advance(2 * FLUSH_MS)
      return heard[connection]!.splice(0)
    },
    edgeOf: (connection: number, userId: string) => delivery.edges.find(connection, interner.find(userId)),
    /** Users that the connection watches because they are in the list it follows. */
    followed(connection: number): string[] {
      const { edges } = delivery
      const found: string[] = []
      for (let edge = edges.firstTarget(connection); edge !== NIL; edge = edges.nextTarget(edge))
        if ((edges.reasons(edge) & FOLLOWED) !== 0) found.push(interner.name(edges.targetOf(edge)))
      return found.sort()
    },
    endViewer,
    /** The connection ends and its number goes to another user. */
    replaceViewer(connection: number, userId: string): void {
      endViewer(connection)
      openViewer(userId)
    },

    connect,
    /** The user comes and leaves: from then on there is a last seen. */
    async visit(userId: string): Promise<void> {
      const { row } = await connect(userId)
      sockets.leave(row)
      await done(tracker.flush())
    },
    close: () => archive.close(),
  }
}
