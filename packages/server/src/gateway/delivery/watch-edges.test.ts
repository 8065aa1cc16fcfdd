// Who watches whom, against plain sets: both directions always agree, edges are pooled, and the cost
// of an edge is what the header of the index says.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  createWatchIndex,
  discreetCrowd,
  MARKED,
  NIL,
  openCrowd,
  UNMARKED,
  type WatchIndex,
} from './watch-index.ts'

const CONNECTIONS = 6
const TARGETS = 8
const EDGE_BYTES_MAX = 32

function targetsOf(index: WatchIndex, connection: number): number[] {
  const found: number[] = []
  for (let edge = index.firstTarget(connection); edge !== NIL; edge = index.nextTarget(edge)) {
    expect(index.connectionOf(edge)).toBe(connection)
    found.push(index.targetOf(edge))
  }
  return found.sort()
}

function watchersOf(index: WatchIndex, target: number): number[] {
  const found: number[] = []
  for (let edge = index.firstWatcher(openCrowd(target)); edge !== NIL; edge = index.nextWatcher(edge)) {
    expect(index.targetOf(edge)).toBe(target)
    found.push(index.connectionOf(edge))
  }
  return found.sort()
}

function expectSame(index: WatchIndex, model: readonly Set<number>[]): void {
  expect(index.edges()).toBe(model.reduce((sum, watched) => sum + watched.size, 0))
  for (const [connection, watched] of model.entries()) {
    expect(targetsOf(index, connection)).toEqual([...watched].sort())
    expect(index.degree(connection)).toBe(watched.size)
  }
  for (let target = 0; target < TARGETS; target++) {
    const watchers = model.flatMap((watched, connection) => (watched.has(target) ? [connection] : []))
    expect(watchersOf(index, target)).toEqual(watchers)
    expect(index.watchers(openCrowd(target))).toBe(watchers.length)
    for (const [connection, watched] of model.entries()) {
      expect(index.isWatching(connection, target)).toBe(watched.has(target))
    }
  }
}

const connection = fc.nat(CONNECTIONS - 1)
const target = fc.nat(TARGETS - 1)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('watch' as const), connection, target }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('unwatch' as const), connection, target }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('clear' as const), connection, target }) },
)

describe('the watch index', () => {
  test('nobody watches anybody to begin with, however large the numbers', () => {
    const index = createWatchIndex(() => {})
    expect(index.isWatching(1_000, 1_000)).toBe(false)
    expect(index.unwatch(1_000, 1_000)).toBe(false)
    expect([index.degree(1_000), index.firstTarget(1_000), index.firstWatcher(openCrowd(1_000))]).toEqual([
      0,
      NIL,
      NIL,
    ])
    expect(index.watchers(openCrowd(1_000))).toBe(0)
    index.clear(1_000, () => expect.unreachable())
  })

  test('[W3] any sequence of watching, unwatching and closing agrees with plain sets', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const index = createWatchIndex(() => expect.unreachable())
        const model = Array.from({ length: CONNECTIONS }, () => new Set<number>())
        for (const { does, connection: from, target: to } of steps) {
          const watched = model[from]!
          if (does === 'watch') {
            expect(index.watch(from, to)).toBe(!watched.has(to))
            watched.add(to)
          } else if (does === 'unwatch') {
            expect(index.unwatch(from, to)).toBe(watched.delete(to))
          } else {
            const dropped: number[] = []
            index.clear(from, (one) => dropped.push(one))
            expect(dropped.sort()).toEqual([...watched].sort())
            watched.clear()
          }
          expectSame(index, model)
        }
      }),
    )
  })

  test('[W5] an edge that leaves while it is marked is told before it is gone, and comes back unmarked', () => {
    const removed: [number, number][] = []
    const index = createWatchIndex((from, edge) => removed.push([from, index.targetOf(edge)]))
    index.watch(0, 5)
    index.watch(0, 6)
    index.setNextMarked(index.firstWatcher(openCrowd(5)), NIL)
    index.setNextMarked(index.firstWatcher(openCrowd(6)), index.firstWatcher(openCrowd(5)))
    index.unwatch(0, 5)
    expect(removed).toEqual([[0, 5]])
    index.clear(0, () => {})
    expect(removed).toEqual([
      [0, 5],
      [0, 6],
    ])
    index.watch(1, 7)
    index.watch(2, 7)
    for (let edge = index.firstWatcher(openCrowd(7)); edge !== NIL; edge = index.nextWatcher(edge)) {
      expect(index.nextMarked(edge)).toBe(UNMARKED)
    }
  })

  test('[W7] an edge without a mark remembers the change it was told, a new one that of its target', () => {
    const left: number[][] = []
    const index = createWatchIndex(() => {}, {
      onLeave: (crowd, edge, next) => void left.push([crowd, edge, next]),
      changeOf: (crowd) => (crowd === openCrowd(7) ? 41 : 0),
    })
    for (const to of [5, 7]) for (const from of [0, 1]) index.watch(from, to)
    const [newer, older] = [index.find(1, 7), index.find(0, 7)]
    expect([index.told(newer), index.told(index.find(0, 5))]).toEqual([41, 0])
    index.setNextMarked(newer, NIL)
    expect([index.told(newer), index.nextMarked(newer)]).toEqual([MARKED, NIL])
    index.unmark(newer, 42)
    expect([index.told(newer), index.nextMarked(newer)]).toEqual([42, UNMARKED])
    // Who came last is first on the list, and says who comes next when it goes.
    index.unwatch(1, 7)
    index.unwatch(0, 7)
    expect(left).toEqual([
      [openCrowd(7), newer, older],
      [openCrowd(7), older, NIL],
    ])
  })

  test('[G6] an edge that is not to be noticed is in a crowd of its own, and first in it when it comes', () => {
    const left: number[][] = []
    const index = createWatchIndex(() => {}, {
      onLeave: (crowd, edge, next) => void left.push([crowd, edge, next]),
      changeOf: (crowd) => (crowd === discreetCrowd(7) ? 41 : 0),
    })
    index.watch(0, 7)
    index.watch(1, 7, true)
    index.watch(2, 7)
    const [open, discreet, newest] = [index.find(0, 7), index.find(1, 7), index.find(2, 7)]
    index.setFlags(discreet, 5)
    expect([index.flags(discreet), index.crowdOf(discreet)]).toEqual([5, discreetCrowd(7)])
    expect([index.watchers(openCrowd(7)), index.watchers(discreetCrowd(7))]).toEqual([2, 1])
    index.setDiscreet(newest, true)
    index.setDiscreet(newest, true)
    expect(left).toEqual([[openCrowd(7), newest, open]])
    expect(index.firstWatcher(discreetCrowd(7))).toBe(newest)
    expect([index.nextWatcher(newest), index.nextWatcher(discreet)]).toEqual([discreet, NIL])
    // It knows all that those know who come now.
    expect(index.told(newest)).toBe(41)
    index.setNextMarked(newest, NIL)
    index.setDiscreet(newest, false)
    expect([index.told(newest), index.flags(newest)]).toEqual([MARKED, 0])
    expect([index.firstWatcher(openCrowd(7)), index.nextWatcher(newest)]).toEqual([newest, open])
  })

  test('[W3] edges are used again, so that coming and going takes no memory', () => {
    const index = createWatchIndex(() => {})
    const edgesSeen = new Set<number>()
    for (let round = 0; round < 50; round++) {
      for (let to = 0; to < 20; to++) index.watch(round, to)
      for (let to = 0; to < 20; to++) edgesSeen.add(index.firstWatcher(openCrowd(to)))
      if (round % 2 === 0) index.clear(round, () => {})
      else for (let to = 0; to < 20; to++) index.unwatch(round, to)
    }
    expect(index.edges()).toBe(0)
    expect(edgesSeen.size).toBe(20)
  })

  test(`[W3] an edge costs at most ${EDGE_BYTES_MAX} bytes, both directions and the mark included`, () => {
    // In a process of its own: what other tests leave behind would be measured too.
    const script = `
      const { heapStats } = require('bun:jsc')
      const { createWatchIndex } = await import(${JSON.stringify(join(import.meta.dir, 'watch-index.ts'))})
      Bun.gc(true)
      const before = heapStats().heapSize
      const index = createWatchIndex(() => {})
      for (let from = 0; from < 2048; from++) {
        for (let to = 0; to < 128; to++) index.watch(from, (from * 7 + to) % 4096)
      }
      Bun.gc(true)
      console.log((heapStats().heapSize - before) / index.edges())`
    const { stdout } = Bun.spawnSync([process.execPath, '-e', script])
    expect(Number(stdout.toString())).toBeWithin(4, EDGE_BYTES_MAX)
  })
})
