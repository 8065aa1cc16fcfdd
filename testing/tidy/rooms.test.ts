// The rooms of the server, of the random fault runs and of the simulation: which may import which, by which door, and how their parts are
// built. The second half shows on small trees that each rule can fail.
import { describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { forwardReferences, roomDirection, WIRING } from './rooms.ts'
import { testingRoomDirection } from './testing-rooms.ts'
import { describeProblems, type Problem, readTree, type TreeFile } from './tree.ts'

const tree = readTree(resolve(import.meta.dir, '../..'))

function expectNone(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new Error(`${problems.length} to mend\n${describeProblems(problems)}`)
}

describe('the rooms of the server', () => {
  test('imports go down, and through the doors', () => expectNone(roomDirection(tree)))
  test('parts are built from the sink to the source', () => {
    expect(tree.filter(({ path }) => WIRING.includes(path))).toHaveLength(WIRING.length)
    expectNone(forwardReferences(tree))
  })
})

test('rooms of the random fault runs and of the simulation import one way', () =>
  expectNone(testingRoomDirection(tree)))

const server = (path: string, ...lines: string[]): TreeFile => ({
  path: `packages/server/src/${path}`,
  text: lines.join('\n'),
})
const lines = (problems: readonly Problem[]): number[] => problems.map(({ line }) => line)

describe('the rules of the rooms', () => {
  test('a room does not import one above it, types included', () => {
    const file = server(
      'gateway/delivery/outbox.ts',
      "import { grown } from '../../platform/typed-arrays.ts'",
      "import type { Watching } from '../watching/watching.ts'",
      "import { reply } from '../../http/reply.ts'",
    )
    expect(lines(roomDirection([file]))).toEqual([2, 3])
  })

  test('a neighbour does not reach past the door of a room', () => {
    const file = server(
      'gateway/watching/watches.ts',
      "import type { Delivery } from '../delivery/delivery.ts'",
      "import type { Outbox } from '../delivery/outbox.ts'",
    )
    expect(lines(roomDirection([file]))).toEqual([2])
    expect(roomDirection([server('gateway/delivery/waves.ts', "import { x } from './outbox.ts'")])).toEqual(
      [],
    )
  })

  test('a file in no room is found', () => {
    expect(lines(roomDirection([server('misc/helper.ts', '')]))).toEqual([1])
  })

  test('a room of the random fault runs that imports one above it is found', () => {
    const random = (path: string, ...lines: string[]): TreeFile => ({
      path: `testing/faults/random/${path}`,
      text: lines.join('\n'),
    })
    const check = random(
      'checks/ghosts.ts',
      "import type { History } from '../history/history.ts'",
      "import type { World } from '../run/world.ts'",
      "import { redisCli } from '../../../services/redis.ts'",
    )
    expect(lines(testingRoomDirection([check]))).toEqual([2])
    expect(lines(testingRoomDirection([random('loose.ts', '')]))).toEqual([1])
  })

  const wiring = (...body: string[]): TreeFile =>
    server('gateway/gateway.ts', 'export function start(parts) {', ...body, '}')

  test('a part that is used before it is built is found, also inside a closure', () => {
    const cyclic = wiring(
      '  const table = createTable(() => membership.id())',
      '  const membership = createMembership(table)',
    )
    expect(lines(forwardReferences([cyclic]))).toEqual([2])
    const fine = wiring(
      '  // membership comes later',
      '  const identity = createIdentity()',
      '  const table = createTable(identity)',
      '  const membership = await startMembership({ identity, table })',
    )
    expect(forwardReferences([fine])).toEqual([])
  })
  test.each([
    [
      'behind a role',
      ["  const sweeper = roles.includes('presence')", '    ? startSweeper({ store })', '    : null'],
    ],
    [
      'behind another part',
      ['  const sweeper =', '    streaming &&', '    (await work.startSweeper({ store }))'],
    ],
    [
      'replaced',
      ['  const sweeper = replaced(', '    createSweeper({ store }),', '    replace.sweeper,', '  )'],
    ],
    ['with a type', ['  const sweeper: Sweeper | null = createSweeper<Lease>({ store })']],
    ['as one of several', ['  const { lease, ...sweeper } = await openLeases({ store })']],
    [
      'under another name',
      ['  const {', '    lease,', '    part: sweeper,', '  } = await openLeases({ store })'],
    ],
  ])('a part that is built %s and used before is found', (_, built) => {
    const store = '  const store = createStore()'
    const later = '  const gateway = createGateway(sweeper)'
    expect(forwardReferences([wiring(store, ...built, later)])).toEqual([])
    for (const early of ['() => sweeper?.lagMs()', '() => ({ ...sweeper })', 'sweeper'])
      expect(
        lines(forwardReferences([wiring(store, `  const stats = statsOf(${early})`, ...built)])),
      ).toEqual([3])
  })

  test('a field or a member of the same name is no use of a part', () => {
    const fine = wiring(
      '  const stats = statsOf({ sweeper: null, lag: parts.sweeper, name: "x" })',
      '  const sweeper = createSweeper(stats)',
    )
    expect(forwardReferences([fine])).toEqual([])
  })
})
