// What the users of a history may do, as generators of moves. Nothing here knows what a user is allowed
// to see; `histories.ts` puts moves together so that the viewer may not see `hidden`.
import { ACTIVITIES, type Activity, type Encoding, PLATFORMS } from '@greendot/protocol'
import fc from 'fast-check'
import { type Frame, HIDDEN_DEVICES, type Move, type Name, type Said, USERS } from './moves.ts'

const { constant, constantFrom, oneof, record, boolean, option, subarray } = fc
export type Moves = fc.Arbitrary<Move>
type Whose = 'self' | 'backend' | 'anyone'
type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

export type Expiries = fc.Arbitrary<number | null>
export const soonOrNever: Expiries = option(constantFrom(40, 700, 3_000, 20_000))
const never: Expiries = constant(null)

const activity = constantFrom(...ACTIVITIES)
const activityOrNot: fc.Arbitrary<Activity | null> = option(activity)

export const call = (who: Name | null, as: Whose, method: Method, path: string, body?: Said): Move => ({
  does: 'call',
  who,
  as,
  method,
  path,
  ...(body === undefined ? {} : { body }),
})
export const callByGrpc = (
  who: Name,
  method: Extract<Move, { does: 'call by gRPC' }>['method'],
  message: Said,
): Move => ({ does: 'call by gRPC', who, as: 'self', method, message })
const say = (who: Name, device: string, frame: Frame): Move => ({ does: 'say', who, device, frame })
const watch = (who: Name, device: string, ...userIds: string[]): Move => ({
  does: 'watch',
  who,
  device,
  userIds,
  known: 'none',
})

/** Something a user sets, themselves, over HTTP or gRPC, or through the backend. */
export function sets(
  who: Name,
  what: 'settings' | 'status' | 'availability',
  body: fc.Arbitrary<Said>,
): Moves {
  const byHttp = record({ as: constantFrom('self', 'backend'), body }).map(({ as, body }) =>
    call(who, as, 'PUT', as === 'self' ? `/api/v1/presence/${what}` : `/api/v1/users/${who}/${what}`, body),
  )
  switch (what) {
    case 'settings':
      return byHttp
    case 'status':
      return oneof(
        { weight: 2, arbitrary: byHttp },
        body.map((said) => callByGrpc(who, 'SetCustomStatus', said)),
      )
    case 'availability':
      return oneof(
        { weight: 2, arbitrary: byHttp },
        body.map(({ status, ...said }) =>
          callByGrpc(who, 'SetAvailability', {
            availability: `AVAILABILITY_${String(status).toUpperCase()}`,
            ...said,
          }),
        ),
      )
  }
}

/** The backend chooses for a user, in both worlds. */
export const decides = (owner: Name, body: Said): Move =>
  call(null, 'backend', 'PUT', `/api/v1/users/${owner}/settings`, body)

/** The backend edits a user's contact list; `who` says whose doing that is. */
export const lists = (
  who: Name | null,
  owner: Name,
  method: 'PUT' | 'POST' | 'DELETE',
  userIds: readonly string[],
): Move => call(who, 'backend', method, `/api/v1/users/${owner}/contacts`, { user_ids: userIds })

export const erasesHidden: Move = call(null, 'backend', 'DELETE', '/api/v1/users/hidden')

const grpcActivity = constantFrom('ACTIVITY_ACTIVE', 'ACTIVITY_IDLE')

const encoding = constantFrom<Encoding[]>('json', 'compact')
const texts = option(constantFrom('In a meeting', 'On a train', 'At sea'), { freq: 4 })

/** Being here on some devices: coming, going in every way, beating, and saying what one is at. */
function living(who: Name, devices: readonly string[], expiries: Expiries): Moves {
  const device = constantFrom(...devices)
  const customStatus = record({ text: texts, expires_in_ms: expiries })
  const opens: Moves = record({
    does: constant('open'),
    who: constant(who),
    device,
    platform: constantFrom(...PLATFORMS.slice(0, 3)),
    activity: activityOrNot,
    isBeating: boolean(),
    encoding,
  })
  const frame: fc.Arbitrary<Frame> = oneof(
    record({ type: constant('heartbeat'), activity }),
    constant<Frame>({ type: 'leave' }),
    customStatus.map((status): Frame => ({ type: 'set_custom_status', ...status })),
  )
  const byHttp: Moves = oneof(
    record({ device_id: device, platform: constant('mobile'), activity }).map((body) =>
      call(who, 'self', 'POST', '/api/v1/heartbeat', body),
    ),
    device.map((device_id) => call(who, 'self', 'POST', '/api/v1/leave', { device_id })),
    record({ device_id: device, platform: constant('PLATFORM_MOBILE'), activity: grpcActivity }).map(
      (message) => callByGrpc(who, 'RecordHeartbeat', message),
    ),
    record({ device_id: device, platform: constant('PLATFORM_TABLET'), activity: grpcActivity }).map(
      (heartbeat) =>
        callByGrpc(who, 'RecordHeartbeats', { heartbeats: [heartbeat], disconnected: [], gateway_id: '' }),
    ),
    device.map((device_id) => callByGrpc(who, 'Leave', { device_id })),
  )
  /** A foreign gateway that reports the user, and the app that ends their sessions. */
  const byBackend: Moves = oneof(
    record({ device_id: device, activity }).map((session) => {
      const sessions = [{ user_id: who, platform: 'desktop', ...session }]
      return call(who, 'backend', 'POST', '/api/v1/heartbeats', { gateway_id: 'chat', sessions })
    }),
    device.map((device_id) => {
      const disconnected = [{ user_id: who, device_id }]
      return call(who, 'backend', 'POST', '/api/v1/heartbeats', { gateway_id: 'chat', disconnected })
    }),
    fc
      .option(device)
      .map((device_id) =>
        call(
          who,
          'backend',
          'POST',
          `/api/v1/users/${who}/disconnect`,
          device_id === null ? {} : { device_id },
        ),
      ),
  )
  return oneof(
    { weight: 5, arbitrary: opens },
    { weight: 4, arbitrary: record({ device, frame }).map(({ device, frame }) => say(who, device, frame)) },
    { weight: 1, arbitrary: byHttp },
    { weight: 1, arbitrary: byBackend },
    { weight: 1, arbitrary: sets(who, 'status', customStatus) },
    { weight: 1, arbitrary: device.map((device): Move => ({ does: 'hang up', who, device })) },
  )
}

const ALL_IDS = [...USERS, 'unknown']

/** Looking at others in every way, and being slow to read what one is told. */
function watching(who: Name, devices: readonly string[]): Moves {
  const device = constantFrom(...devices)
  const userIds = oneof(constant(['other']), subarray(ALL_IDS, { minLength: 1 }))
  const frame: fc.Arbitrary<Frame> = oneof(
    userIds.map((ids): Frame => ({ type: 'unwatch', user_ids: ids })),
    constant<Frame>({ type: 'watch_contacts' }),
  )
  return oneof(
    {
      weight: 5,
      arbitrary: record({ device, userIds }).map((one) => watch(who, one.device, ...one.userIds)),
    },
    { weight: 2, arbitrary: record({ device, frame }).map(({ device, frame }) => say(who, device, frame)) },
    {
      weight: 3,
      arbitrary: record({ does: constant('stream'), who: constant(who), userIds, isResumed: boolean() }),
    },
    { weight: 1, arbitrary: userIds.map((ids): Move => ({ does: 'subscribe', who, userIds: ids })) },
    { weight: 1, arbitrary: constant<Move>({ does: 'end stream', who }) },
    { weight: 1, arbitrary: record({ does: constantFrom('stall', 'catch up'), who: constant(who), device }) },
    {
      weight: 1,
      arbitrary: constantFrom(...ALL_IDS).map((id) => call(who, 'self', 'GET', `/api/v1/presence/${id}`)),
    },
  )
}

/** What `hidden` does besides choosing who may see them and whether they are visible. */
export const privateLife = (expiries: Expiries = soonOrNever): Moves =>
  oneof(
    { weight: 9, arbitrary: living('hidden', HIDDEN_DEVICES, expiries) },
    { weight: 4, arbitrary: watching('hidden', HIDDEN_DEVICES) },
    {
      weight: 1,
      arbitrary: constantFrom(
        ...[{ away_after_ms: 2_000 }, { history: true }, { history: false }].map((settings) =>
          call('hidden', 'self', 'PUT', '/api/v1/presence/settings', settings),
        ),
      ),
    },
  )

export const availabilities = (...statuses: string[]): Moves =>
  sets('hidden', 'availability', record({ status: constantFrom(...statuses), expires_in_ms: soonOrNever }))

/** Contact lists of `hidden` that the viewer is not on. */
export const listsWithoutViewer: Moves = record({
  method: constantFrom('PUT', 'POST', 'DELETE'),
  userIds: subarray(['friend', 'mutual', 'other']),
}).map(({ method, userIds }) => lists('hidden', 'hidden', method, userIds))

/**
 * Users whom the viewer may see, so that their order and coalescing are compared too. What they say
 * does not expire: if it did while the server was down, it would show a turn after they are looked at.
 */
export const company: Moves = oneof(
  { weight: 4, arbitrary: living('other', ['o1', 'o2'], never) },
  { weight: 2, arbitrary: living('mutual', ['m1'], never) },
  { weight: 1, arbitrary: living('friend', ['f1'], never) },
  { weight: 1, arbitrary: watching('other', ['o1', 'o2']) },
  { weight: 1, arbitrary: watching('mutual', ['m1']) },
  { weight: 1, arbitrary: watching('friend', ['f1']) },
  {
    weight: 2,
    arbitrary: constantFrom<Move>(
      watch('friend', 'f1', 'hidden', 'viewer'),
      { does: 'stream', who: 'friend', userIds: ['hidden'], isResumed: false },
      call('friend', 'self', 'GET', '/api/v1/presence/hidden'),
    ),
  },
)

export const opens = (who: Name, device: string): Extract<Move, { does: 'open' }> => ({
  does: 'open',
  who,
  device,
  platform: 'web',
  activity: null,
  isBeating: true,
  encoding: 'json',
})

const viewed = oneof(
  constant(['hidden', 'other']),
  subarray(['hidden', 'other', 'mutual', 'friend', 'unknown'], { minLength: 1 }),
)
const viewerDevice = constantFrom('v1', 'v1', 'v2')

const viewerOpens: Moves = record({
  device: viewerDevice,
  isBeating: constantFrom(true, true, true, false),
  encoding,
}).map(({ device, ...chosen }) => ({ ...opens('viewer', device), ...chosen }))

/** Every way to ask, including those that are not for users. */
const reads: Moves = viewed.chain((userIds) =>
  constantFrom(
    call('viewer', 'self', 'GET', `/api/v1/presence/${userIds[0]}`),
    call('viewer', 'self', 'GET', `/api/v1/presence?user_ids=${userIds}`),
    call('viewer', 'self', 'POST', '/api/v1/presence/query', { user_ids: userIds }),
    call('viewer', 'self', 'GET', `/presence/batch?user_ids=${userIds}`),
    call('viewer', 'anyone', 'GET', `/api/v1/public/presence/${userIds[0]}`),
    call('viewer', 'anyone', 'GET', '/api/v1/public/presence/hidden'),
    call('viewer', 'self', 'GET', `/api/v1/presence/${userIds[0]}?viewer_id=hidden`),
    callByGrpc('viewer', 'GetPresence', { user_ids: userIds }),
    callByGrpc('viewer', 'GetPresence', { user_ids: userIds, viewer_id: 'hidden' }),
  ),
)

const watches: Moves = record({
  does: constant('watch'),
  who: constant('viewer'),
  device: viewerDevice,
  userIds: viewed,
  known: oneof(constantFrom('none', 'shown', 'shown'), constantFrom(0, 1, 7)),
})

const frames: Moves = record({
  device: viewerDevice,
  frame: oneof(
    constant<Frame>({ type: 'watch_contacts', ref: 1 }),
    viewed.map((userIds): Frame => ({ type: 'unwatch', user_ids: userIds, ref: 2 })),
    constant<Frame>({ type: 'leave' }),
    constant<Frame>({ type: 'watch', user_ids: ['hidden', 'not an id'], ref: 3 }),
  ),
}).map(({ device, frame }) => say('viewer', device, frame))

const asks = (ref: number, request: Said): Move => ({
  does: 'ask',
  who: 'viewer',
  request: { ref, ...request },
})

const streams: Moves = oneof(
  record({ does: constant('stream'), who: constant('viewer'), userIds: viewed, isResumed: boolean() }),
  constant<Move>({ does: 'end stream', who: 'viewer' }),
  viewed.map((userIds): Move => ({ does: 'subscribe', who: 'viewer', userIds })),
  oneof(
    viewed.map((user_ids) => asks(1, { action: 'watch', watch: { user_ids, known: {} } })),
    viewed.map((user_ids) => asks(2, { action: 'unwatch', unwatch: { user_ids } })),
    constant(asks(3, { action: 'watch_contacts' })),
  ),
  constant<Move>({ does: 'end gRPC', who: 'viewer' }),
)

const sockets: Moves = record({
  does: constantFrom('hang up', 'stall', 'catch up'),
  who: constant('viewer'),
  device: viewerDevice,
})

/** Everything a viewer can do to find something out, and what they choose and whom they list meanwhile. */
export function viewing(settings: fc.Arbitrary<Said>, listed: fc.Arbitrary<readonly string[]>): Moves {
  return oneof(
    { weight: 3, arbitrary: viewerOpens },
    { weight: 6, arbitrary: watches },
    { weight: 5, arbitrary: reads },
    { weight: 2, arbitrary: streams },
    { weight: 3, arbitrary: frames },
    { weight: 2, arbitrary: sockets },
    { weight: 1, arbitrary: sets('viewer', 'settings', settings) },
    { weight: 1, arbitrary: listed.map((userIds) => lists('viewer', 'viewer', 'PUT', userIds)) },
  )
}

const lastSeen = {
  last_seen_visibility: constantFrom('everyone', 'contacts', 'nobody'),
  last_seen_precision: constantFrom('exact', 'approximate'),
}

/** What `hidden` may choose so that strangers, or this viewer, see nothing of them. */
const fromStrangers = record({
  ...lastSeen,
  status_visibility: constantFrom('nobody', 'contacts'),
  reciprocal: boolean(),
  allow: constantFrom<readonly string[]>([], ['friend']),
  deny: constantFrom<readonly string[]>([], ['mutual']),
})
const fromViewer = record({
  ...lastSeen,
  status_visibility: constantFrom('everyone', 'contacts', 'nobody'),
  reciprocal: boolean(),
  allow: constantFrom<readonly string[]>([], ['friend'], ['friend', 'viewer']),
  deny: constantFrom(['viewer'], ['viewer', 'mutual']),
})
/** Hides them from users who hide, and only from these. */
const fromHidingUsers = record({
  ...lastSeen,
  status_visibility: constantFrom('everyone', 'contacts'),
  reciprocal: constant(true),
  allow: constantFrom<readonly string[]>([], ['friend']),
  deny: constant([]),
})

export const hidingSettings = (isViewerHiding: boolean): fc.Arbitrary<Said> =>
  isViewerHiding
    ? oneof(fromStrangers, fromViewer, fromHidingUsers, fromHidingUsers)
    : oneof(fromStrangers, fromViewer)

/** What `hidden` may choose and still be seen by the viewer. */
export const openSettings: fc.Arbitrary<Said> = record({
  ...lastSeen,
  status_visibility: constant('everyone'),
  deny: constantFrom<readonly string[]>([], ['mutual']),
})

const ownAudience = { last_seen_visibility: constantFrom('everyone', 'nobody') }

/** What the viewer may choose for themselves and hide from `hidden` by it. */
export const viewerHides: fc.Arbitrary<Said> = oneof(
  record({ ...ownAudience, status_visibility: constant('nobody'), deny: constant([]) }),
  record({
    ...ownAudience,
    status_visibility: constantFrom('everyone', 'contacts'),
    deny: constant(['hidden']),
  }),
)

export const viewerChooses: fc.Arbitrary<Said> = record({
  ...ownAudience,
  status_visibility: constantFrom('everyone', 'contacts', 'nobody'),
  deny: constantFrom<readonly string[]>([], ['mutual']),
})
