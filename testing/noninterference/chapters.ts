// How moves become a history: a beginning in which users connect and watch, chapters of random steps, and the few
// rules that keep a step from meaning two things at once: what is promised must not depend on which of two
// moves is quicker.
import fc from 'fast-check'
import type { SettingsInput } from '../clients/server.ts'
import type { Move, Said, Step } from './moves.ts'
import { call, company, decides, erasesHidden, type Moves, opens } from './user-moves.ts'

const { constant, constantFrom, oneof, record, array } = fc

export const passMs: fc.Arbitrary<number> = oneof(
  { weight: 4, arbitrary: constant(0) },
  { weight: 4, arbitrary: constantFrom(5, 10, 45, 50, 55) },
  { weight: 4, arbitrary: constantFrom(250, 500, 1_000, 2_100) },
  { weight: 2, arbitrary: constantFrom(3_000, 6_000, 11_000) },
  { weight: 1, arbitrary: constantFrom(16_000, 25_000) },
)
/** Long enough for everything that is kept for a while to be forgotten. */
const ages = constantFrom(61_000, 61_000, 310_000)

export const alone = (move: Move): Step => ({ moves: [move], passMs: 0 })
const stepOf = (moves: Moves): fc.Arbitrary<Step> =>
  record({ moves: array(moves, { minLength: 1, maxLength: 4 }), passMs })

const isErasure = (move: Move) => move === erasesHidden
const isChosenForHidden = (move: Move) =>
  move.does === 'call' && move.who === null && move.path.startsWith('/api/v1/users/hidden/')
const isListing = (move: Move) => move.does === 'call' && move.path.endsWith('/contacts')
/**
 * What changes all that the viewer sees, or what they see of themselves, or for how long nothing is seen. What
 * the backend chooses for `hidden`: it is done in order with what they choose themselves. And edits of contact
 * lists, which are written in several turns.
 */
function isDecisive(move: Move): boolean {
  if (isErasure(move) || isListing(move) || isChosenForHidden(move) || move.does === 'go invisible')
    return true
  if (move.who !== 'viewer') return false
  if (move.does === 'say') return move.frame.type === 'leave'
  if (move.does === 'call by gRPC') return move.method.startsWith('Set')
  return move.does === 'open' || move.does === 'hang up' || (move.does === 'call' && move.method === 'PUT')
}

/** The viewer uses a connection, which answers one thing after the other and takes up a place in an audience. */
const isOnConnection = (move: Move) =>
  move.who === 'viewer' && move.does !== 'call' && move.does !== 'call by gRPC'

/**
 * Whether a move can share its turn with others without the result depending on which of them is quicker: what the
 * viewer does and what others do are apart, the viewer uses one connection at a time, and a decisive move is
 * alone. What `hidden` does is in any turn.
 */
function fitsInto(turn: readonly Move[], move: Move): boolean {
  if (turn.length === 0) return true
  if (isDecisive(move) || turn.some(isDecisive)) return false
  if (move.who === 'hidden') return true
  if (isOnConnection(move) && turn.some(isOnConnection)) return false
  return turn.every(({ who }) => who === 'hidden' || (who === 'viewer') === (move.who === 'viewer'))
}

/** Moves of one step in as few turns as their order allows. */
function apart(steps: readonly Step[]): Step[] {
  return steps.flatMap(({ moves, passMs }) => {
    const turns: Move[][] = [[]]
    for (const move of moves) {
      if (fitsInto(turns.at(-1)!, move)) turns.at(-1)!.push(move)
      else turns.push([move])
    }
    const last = turns.length - 1
    return turns.map((turn, at): Step => ({ moves: turn, passMs: at === last ? passMs : 0 }))
  })
}

/** Not longer than that, so that what went before is still under way. */
const RUNS_ON_MS_MAX = 55

/**
 * A step goes over into the next without a pause when only `hidden` does something in it: while contacts are looked
 * up, a snapshot is made or a change waits for its flush, the secret goes on.
 */
export function runningOn(steps: readonly Step[]): Step[] {
  return steps.map((step, at): Step => {
    const next = steps[at + 1]?.moves ?? []
    const isSecretNext = next.length > 0 && next.every((move) => move.who === 'hidden' && !isDecisive(move))
    return isSecretNext && step.passMs <= RUNS_ON_MS_MAX ? { ...step, runsOn: true } : step
  })
}

const viewerWatches: Extract<Move, { does: 'watch' }> = {
  does: 'watch',
  who: 'viewer',
  device: 'v1',
  userIds: ['hidden', 'other', 'mutual'],
  known: 'shown',
}

/** Now and then much time goes by, or the server is restarted and the viewer comes back. */
const turningPoint: fc.Arbitrary<Step[]> = oneof(
  constant<Step[]>([]),
  ages.map((ms): Step[] => [{ moves: [], passMs: ms }]),
  passMs.map((ms): Step[] => [
    { moves: [{ does: 'restart', who: null }], passMs: ms },
    { moves: [opens('viewer', 'v1'), viewerWatches], passMs: 0 },
  ]),
)

export interface Cast {
  /** What `hidden` does. */
  secret: Moves
  /** What the viewer does. */
  looking: Moves
  /** What happens besides, in both worlds. */
  around: Moves
}

/** The secret goes on while the viewer looks and while others change. */
export function chapter({ secret, looking, around }: Cast, maxSteps: number): fc.Arbitrary<Step[]> {
  const anything = oneof(
    { weight: 3, arbitrary: secret },
    { weight: 2, arbitrary: looking },
    { weight: 1, arbitrary: around },
  )
  const steps = array(stepOf(anything), { minLength: 1, maxLength: maxSteps })
  return record({ before: steps, turn: turningPoint, after: steps }).map(({ before, turn, after }) =>
    apart([...before, ...turn, ...after]),
  )
}

/** Who is open, and a viewer who most often is there and watches before anything happens. */
export function beginning(setUp: readonly Move[], others: readonly Move[] = []): fc.Arbitrary<Step[]> {
  const friendWatches: Move = { ...viewerWatches, who: 'friend', device: 'f1', userIds: ['hidden'] }
  const watching = [opens('viewer', 'v1'), opens('friend', 'f1'), viewerWatches, friendWatches, ...others]
  return constantFrom([], watching, watching, watching).map((moves) => [
    { moves: [...companyIsOpen, ...setUp], passMs: 250 },
    { moves, passMs: 250 },
  ])
}

export const OPEN = { status_visibility: 'everyone', last_seen_visibility: 'everyone' }
const companyIsOpen: readonly Move[] = [
  decides('other', OPEN),
  decides('mutual', { ...OPEN, reciprocal: true }),
]

export const manners: fc.Arbitrary<SettingsInput> = record({
  policy: constantFrom<SettingsInput>({}, {}, { online_delay_ms: 1_000 }, { linger_ms: 8_000 }),
  hidden_as: constantFrom('offline', 'null'),
  poll_burst: constantFrom(5, 1_000),
  watch_limit: constantFrom(3, 500),
  // So low that a single watcher more or less decides.
  paced_above: constantFrom(0, 1, 2, 5_000),
  queued_above: constantFrom(1, 10_000),
  polled_above: constantFrom(0, 0, 1, 2),
}).map(({ policy, ...rest }) => ({ ...policy, ...rest }))

export const withErasure: Moves = oneof(
  { weight: 6, arbitrary: company },
  { weight: 1, arbitrary: constant(erasesHidden) },
)

/** A user who is erased does not return. */
export function withoutTheErased(steps: readonly Step[]): Step[] {
  let isGone = false
  return steps.map(({ moves, passMs }) => {
    isGone ||= moves.some(isErasure)
    return { moves: isGone ? moves.filter(({ who }) => who !== 'hidden') : moves, passMs }
  })
}

export interface Guarding {
  choices: readonly Said[]
  /** Chosen in the very turn in which they first do something. */
  isInSameTurn: boolean
  /** What the viewer chose, once more: an erasure takes the erased user out of every list. */
  viewerAgain: Move
}

/** A call over gRPC reaches the actions in fewer turns than a request over HTTP, whichever was made first. */
const overtakesHttp = ({ who, does }: Move) => who === 'hidden' && does === 'call by gRPC'

/**
 * Before `hidden` first does anything the backend chooses for them, because without a choice they are visible. What
 * would overtake that choice waits until it was answered: what is done before it is for all to see.
 */
export function guarded(steps: readonly Step[], { choices, isInSameTurn, viewerAgain }: Guarding): Step[] {
  let isGuarded = false
  let next = 0
  return steps.flatMap((step): Step[] => {
    const { moves, passMs } = step
    if (moves.some(isErasure)) isGuarded = false
    if (isGuarded || !moves.some(({ who }) => who === 'hidden')) return [step]
    isGuarded = true
    const body = choices[next++ % choices.length]!
    const chosen = call('hidden', 'backend', 'PUT', '/api/v1/users/hidden/settings', body)
    const isTogether = isInSameTurn && !moves.some(overtakesHttp)
    const choosing = isTogether ? [{ moves: [chosen, ...moves], passMs }] : [alone(chosen), step]
    return [alone(viewerAgain), ...choosing]
  })
}
