// Who watches whom, compared with plain sets: both directions always agree, edges are used again, and each
// part of an edge (level, hold, reasons, mark, wave) reads as it was written, whatever the others are.
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { NIL } from '../../platform/typed-arrays.ts'
import { VIEW_LEVELS } from '../../presence/privacy/visibility.ts'
import { createWatchEdges, FOLLOWED, NAMED, type WatchEdges } from './watch-edges.ts'

const CONNECTIONS = 6
const TARGETS = 8
const EDGE_BYTES_MAX = 32

/** A connection of the model: what it watches, and what of that is marked, the newest mark first. */
interface Model {
  watched: Set<number>
  marked: number[]
}

function walk(first: number, next: (edge: number) => number, name: (edge: number) => number): number[] {
  const found: number[] = []
  for (let edge = first; edge !== NIL; edge = next(edge)) found.push(name(edge))
  return found.sort()
}

function expectSame(edges: WatchEdges, model: readonly Model[]): void {
  expect(edges.count()).toBe(model.reduce((sum, { watched }) => sum + watched.size, 0))
  for (const [connection, { watched, marked }] of model.entries()) {
    expect(walk(edges.firstTarget(connection), edges.nextTarget, edges.targetOf)).toEqual([...watched].sort())
    expect(edges.degree(connection)).toBe(watched.size)
    const first = edges.firstMarked(connection)
    expect(first === NIL ? undefined : edges.targetOf(first)).toBe(marked[0])
    for (let target = 0; target < TARGETS; target++) {
      const edge = edges.find(connection, target)
      expect(edge !== NIL).toBe(watched.has(target))
      if (edge === NIL) continue
      expect([edges.connectionOf(edge), edges.targetOf(edge)]).toEqual([connection, target])
      expect(edges.isMarked(edge)).toBe(marked.includes(target))
    }
  }
  for (let target = 0; target < TARGETS; target++) {
    const watchers = model.flatMap(({ watched }, connection) => (watched.has(target) ? [connection] : []))
    expect(walk(edges.firstWatcher(target), edges.nextWatcher, edges.connectionOf)).toEqual(watchers)
    expect(edges.watchers(target)).toBe(watchers.length)
  }
}

const steps = fc.array(
  fc.record({
    does: fc.constantFrom('add', 'add', 'add', 'mark', 'mark', 'unmark', 'remove', 'removeAll', 'clear'),
    connection: fc.nat(CONNECTIONS - 1),
    target: fc.nat(TARGETS - 1),
  }),
  { maxLength: 120 },
)

describe('watch edges', () => {
  test('there are none to begin with, however large the numbers', () => {
    const edges = createWatchEdges()
    expect(edges.find(1_000, 1_000)).toBe(NIL)
    expect(edges.remove(1_000, 1_000)).toBe(false)
    expect([edges.firstTarget(1_000), edges.firstWatcher(1_000), edges.firstMarked(1_000)]).toEqual([
      NIL,
      NIL,
      NIL,
    ])
    expect([edges.degree(1_000), edges.watchers(1_000), edges.count()]).toEqual([0, 0, 0])
    edges.clear(1_000, () => expect.unreachable())
  })

  test('[W3, W5] any sequence of adding, marking and removing agrees with plain sets', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const edges = createWatchEdges()
        const model = Array.from({ length: CONNECTIONS }, (): Model => ({ watched: new Set(), marked: [] }))
        for (const { does, connection, target } of sequence) {
          const one = model[connection]!
          const drop = (gone: (target: number) => boolean) => {
            one.marked = one.marked.filter((marked) => !gone(marked))
            one.watched = new Set([...one.watched].filter((watched) => !gone(watched)))
          }
          if (does === 'add' && !one.watched.has(target)) {
            edges.add(connection, target)
            one.watched.add(target)
          } else if (does === 'mark' && one.watched.has(target)) {
            expect(edges.mark(edges.find(connection, target))).toBe(!one.marked.includes(target))
            if (!one.marked.includes(target)) one.marked.unshift(target)
          } else if (does === 'unmark' && one.marked.length > 0) {
            const next = edges.unmarkFirst(edges.firstMarked(connection))
            one.marked.shift()
            expect(next).toBe(edges.firstMarked(connection))
          } else if (does === 'remove') {
            expect(edges.remove(connection, target)).toBe(one.watched.has(target))
            drop((gone) => gone === target)
          } else if (does === 'removeAll') {
            edges.removeAll(connection, new Set([target, target + 1]))
            drop((gone) => gone === target || gone === target + 1)
          } else if (does === 'clear') {
            const dropped: number[] = []
            edges.clear(connection, (gone) => dropped.push(gone))
            expect(dropped.sort()).toEqual([...one.watched].sort())
            drop(() => true)
          }
          expectSame(edges, model)
        }
      }),
    )
  })

  test('[W3] edges are used again, and a free one has no target', () => {
    const edges = createWatchEdges()
    const seen = new Set<number>()
    for (let round = 0; round < 50; round++) {
      for (let target = 0; target < 20; target++) seen.add(edges.add(round, target))
      if (round % 2 === 0) edges.clear(round, () => {})
      else for (let target = 0; target < 20; target++) edges.remove(round, target)
    }
    expect([edges.count(), seen.size]).toEqual([0, 20])
    for (const edge of seen) expect(edges.targetOf(edge)).toBe(NIL)
  })

  test('[S6] a new edge sees everything, is told all and has no reason, whatever its number had before', () => {
    const edges = createWatchEdges()
    const before = edges.add(0, 5)
    edges.reveal(before, 'nothing')
    edges.hold(before)
    edges.oweWhileHeld(before)
    edges.addReason(before, NAMED)
    edges.mark(before)
    edges.remove(0, 5)
    const edge = edges.add(1, 7)
    expect(edge).toBe(before)
    expect([edges.levelOf(edge), edges.reasons(edge)]).toEqual(['everything', 0])
    expect([edges.isWhole(edge), edges.isHeld(edge), edges.isMarked(edge)]).toEqual([true, false, false])
    expect(edges.reveal(edge, 'everything')).toBe(false)
  })

  test('[S6] level, hold and reasons do not disturb each other', () => {
    const edges = createWatchEdges()
    const edge = edges.add(0, 5)
    for (const level of VIEW_LEVELS) {
      for (const reasons of [[], [NAMED], [FOLLOWED], [NAMED, FOLLOWED]]) {
        for (const isOwed of [false, true]) {
          expect(edges.reveal(edge, level)).toBe(false)
          expect(edges.isWhole(edge)).toBe(level === 'everything')
          for (const reason of reasons) edges.addReason(edge, reason)
          edges.hold(edge)
          if (isOwed) edges.oweWhileHeld(edge)
          expect([edges.levelOf(edge), edges.isHidden(edge)]).toEqual([level, level === 'nothing'])
          expect([edges.isHeld(edge), edges.isWhole(edge)]).toEqual([true, false])
          expect(edges.reveal(edge, level)).toBe(isOwed)
          expect(edges.isHeld(edge)).toBe(false)
          expect(edges.reasons(edge)).toBe(reasons.reduce((all: number, reason) => all | reason, 0))
          for (const reason of reasons) edges.dropReason(edge, reason)
          expect(edges.reasons(edge)).toBe(0)
        }
      }
    }
  })

  test('[W7] a wave owes its change to the edges of its target that were neither told, marked nor new', () => {
    const edges = createWatchEdges()
    const [passed, marked, owed] = [0, 1, 2].map((connection) => edges.add(connection, 7)) as [
      number,
      number,
      number,
    ]
    const other = edges.add(0, 8)
    edges.beginWave(7, 41)
    edges.passByWave(passed)
    edges.mark(marked)
    edges.passByWave(marked)
    const added = edges.add(3, 7)
    const isOwed = () => [passed, marked, owed, other, added].map(edges.isOwedByWave)
    expect(isOwed()).toEqual([false, false, true, false, false])
    // It was told what the wave brings.
    edges.unmarkFirst(marked)
    expect(isOwed()).toEqual([false, false, true, false, false])
    edges.beginWave(7, 42)
    expect(isOwed()).toEqual([true, true, true, false, true])
    edges.endWave(7)
    expect(isOwed()).toEqual([false, false, false, false, false])
  })

  test('[W7] an edge that leaves moves the cursors at it on, until they are closed', () => {
    const edges = createWatchEdges()
    const [last, middle, first] = [0, 1, 2].map((connection) => edges.add(connection, 7))
    const [open, closed, elsewhere] = [first!, first!, middle!].map((edge) => edges.openCursor(7, edge))
    edges.closeCursor(7, closed!)
    edges.remove(2, 7)
    expect([open, closed, elsewhere]).toEqual([{ edge: middle! }, { edge: first! }, { edge: middle! }])
    edges.clear(1, () => {})
    expect([open, elsewhere]).toEqual([{ edge: last! }, { edge: last! }])
    edges.remove(0, 7)
    expect([open, elsewhere]).toEqual([{ edge: NIL }, { edge: NIL }])
  })

  test(`[W3] an edge costs at most ${EDGE_BYTES_MAX} bytes, both directions, mark and flags included`, () => {
    // In a process of its own: what other tests leave behind would be measured too.
    const script = `
      const { heapStats } = require('bun:jsc')
      const { createWatchEdges } = await import(${JSON.stringify(join(import.meta.dir, 'watch-edges.ts'))})
      Bun.gc(true)
      const before = heapStats().heapSize
      const edges = createWatchEdges()
      for (let from = 0; from < 2048; from++) {
        for (let to = 0; to < 128; to++) edges.add(from, (from * 7 + to) % 4096)
      }
      Bun.gc(true)
      console.log((heapStats().heapSize - before) / edges.count())`
    const { stdout } = Bun.spawnSync([process.execPath, '-e', script])
    expect(Number(stdout.toString())).toBeWithin(4, EDGE_BYTES_MAX)
  })
})
