// The newest known state of each target: versions only go up, 0 replaces anything, and a frame always carries
// what is known now.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { unknownPresence } from '../../presence/core/view.ts'
import { createTargetTable, type TargetTableParts } from './target-table.ts'

/** Another object in each version. */
const json = (version: number) => `{"last_seen":${version},"version":${version}}`

const createTable = (parts: Partial<TargetTableParts> = {}) =>
  createTargetTable({ nameOf: () => 'bob', mask: (json) => json, now: () => 0, ...parts })

describe('the target table', () => {
  test('nothing is known of a target before the first update', () => {
    const targets = createTable()
    expect(targets.isKnown(0)).toBe(false)
    expect(targets.isKnown(1_000)).toBe(false)
    expect(targets.update(5, 0, json(0), 10)).toBe(true)
    expect(targets.isKnown(5)).toBe(true)
    expect(targets.isKnown(4)).toBe(false)
  })

  test('[W9] an older or equal version changes nothing, not even the instant', () => {
    const targets = createTable()
    targets.update(1, 7, json(7), 100)
    expect(targets.update(1, 6, json(6), 200)).toBe(false)
    expect(targets.update(1, 7, '{"other":7}', 200)).toBe(false)
    expect([targets.version(1), targets.json(1), targets.changedAt(1)]).toEqual([7, json(7), 100])
  })

  test('[W9] version 0 replaces any version, and any version replaces it', () => {
    const targets = createTable()
    targets.update(1, 7, json(7), 100)
    expect(targets.update(1, 0, json(0), 200)).toBe(true)
    expect(targets.update(1, 0, json(0), 300)).toBe(false)
    expect([targets.version(1), targets.json(1), targets.changedAt(1)]).toEqual([0, json(0), 200])
    expect(targets.update(1, 3, json(3), 400)).toBe(true)
  })

  test('[S6, W9] another version of the same object is no change, but later versions are compared with it', () => {
    const targets = createTable()
    targets.update(1, 0, json(0), 100)
    expect(targets.update(1, 7, json(0), 200)).toBe(false)
    expect([targets.version(1), targets.changedAt(1)]).toEqual([7, 100])
    expect(targets.update(1, 7, json(7), 300)).toBe(false)
    expect(targets.update(1, 8, json(8), 300)).toBe(true)
  })

  test('[W9] a version that a client was shown is awaited, and older ones come too late', () => {
    const targets = createTable()
    targets.update(1, 5, json(5), 100)
    expect(targets.update(1, 7, json(5), 200)).toBe(false)
    expect(targets.update(1, 6, json(6), 300)).toBe(false)
    expect(targets.update(1, 7, json(7), 400)).toBe(true)
    expect(targets.update(1, 7, json(7), 500)).toBe(false)
  })

  test('[P27, C7] the same in a newer version is kept for new watchers and told to none', () => {
    const targets = createTable()
    const bob = (version: number) => JSON.stringify({ ...unknownPresence('bob'), last_seen: 9, version })
    const other = (version: number) => `{"last_seen":4,"version":${version}}`
    for (const inVersion of [bob, other]) {
      targets.forget(1)
      expect(targets.update(1, 5, inVersion(5), 100)).toBe(true)
      targets.frame(1, 'json')
      expect(targets.update(1, 8, inVersion(8), 200)).toBe(false)
      expect([targets.version(1), targets.json(1), targets.changedAt(1)]).toEqual([8, inVersion(8), 100])
      expect(targets.frame(1, 'json')).toContain(inVersion(8))
      // Older than what is kept, though newer than what watchers were told.
      expect(targets.update(1, 7, json(7), 300)).toBe(false)
      expect(targets.update(1, 9, json(9), 400)).toBe(true)
    }
  })

  test('[P27, W9] a version that a client was shown is not taken to be what is shown here', () => {
    const targets = createTable()
    targets.update(1, 5, json(5), 100)
    targets.update(1, 7, json(5), 200)
    expect(targets.update(1, 8, json(5).replace('"version":5', '"version":8'), 300)).toBe(true)
  })

  test('[S5, S6] a masked object is made once a day, and again after a change', () => {
    const DAY_MS = 86_400_000
    let now = 3 * DAY_MS - 1
    let made = 0
    const targets = createTable({ mask: () => `mask ${++made}`, now: () => now })
    targets.update(1, 1, json(1), 0)
    expect([targets.jsonFor(1, 'status'), targets.jsonFor(1, 'status')]).toEqual(['mask 1', 'mask 1'])
    now++
    expect(targets.jsonFor(1, 'status')).toBe('mask 2')
    now += DAY_MS - 1
    expect(targets.jsonFor(1, 'status')).toBe('mask 2')
    targets.update(1, 2, json(2), 0)
    expect(targets.jsonFor(1, 'status')).toBe('mask 3')
  })

  test('a frame is made once and again only after a change', () => {
    const targets = createTable()
    targets.update(1, 1, json(1), 0)
    const frame = targets.frame(1, 'json')
    expect(JSON.parse(frame)).toEqual({ type: 'presence_change', changes: [JSON.parse(json(1))] })
    expect(targets.frame(1, 'json')).toBe(frame)
    targets.update(1, 2, json(2), 0)
    expect(JSON.parse(targets.frame(1, 'json'))).toEqual({
      type: 'presence_change',
      changes: [JSON.parse(json(2))],
    })
  })

  test('[C10] every encoding has its own text and frame, at every level, made once and again after a change', () => {
    const DAY_MS = 86_400_000
    let now = 0
    const bob = (version: number) => ({ ...unknownPresence('bob'), last_seen: 9, version })
    const mask = (json: string) => JSON.stringify({ ...JSON.parse(json), last_seen: now })
    const targets = createTable({ mask, now: () => now })
    const read = () => [
      targets.textFor(1, 'everything', 'json'),
      targets.textFor(1, 'everything', 'compact'),
      targets.textFor(1, 'status', 'json'),
      targets.textFor(1, 'status', 'compact'),
      targets.frame(1, 'json'),
      targets.frame(1, 'compact'),
    ]
    const expected = (version: number) => [
      JSON.stringify(bob(version)),
      `bob,f,9,${version}`,
      JSON.stringify({ ...bob(version), last_seen: now }),
      `bob,f,${now.toString(36)},${version}`,
      JSON.stringify({ type: 'presence_change', changes: [bob(version)] }),
      `cbob,f,9,${version}`,
    ]
    targets.update(1, 1, JSON.stringify(bob(1)), 0)
    expect(read()).toEqual(expected(1))
    expect(read()).toEqual(expected(1))
    now = DAY_MS
    expect(read()).toEqual(expected(1))
    targets.update(1, 2, JSON.stringify(bob(2)), 0)
    expect(read()).toEqual(expected(2))
    targets.forget(1)
    targets.update(1, 1, JSON.stringify(bob(1)), 0)
    expect(read()).toEqual(expected(1))
  })

  test('[C10] texts are the same whether they are kept ready or made again', () => {
    const targets = createTable({ nameOf: (target) => `user-${target}` })
    const jsonOf = (target: number) =>
      JSON.stringify({ ...unknownPresence(`user-${target}`), devices: ['web'], version: target + 1 })
    const others = 10_000
    for (let target = 0; target < others; target++) targets.update(target, target + 1, jsonOf(target), 0)
    for (const target of [0, 1, others - 1]) {
      expect(targets.json(target)).toBe(jsonOf(target))
      expect(targets.textFor(target, 'everything', 'compact')).toStartWith(`user-${target},`)
      expect(targets.frame(target, 'json')).toContain(jsonOf(target))
      // A higher version of the same text: the texts themselves are compared.
      expect(targets.update(target, target + 2, jsonOf(target), 0)).toBe(false)
    }
  })

  test('a forgotten target starts again: its number may belong to another user', () => {
    const targets = createTable()
    targets.update(1, 9, json(9), 0)
    targets.frame(1, 'json')
    targets.forget(1)
    expect(targets.isKnown(1)).toBe(false)
    expect(targets.update(1, 2, json(2), 0)).toBe(true)
    expect(JSON.parse(targets.frame(1, 'json')).changes).toEqual([JSON.parse(json(2))])
  })

  test('[W9] after any updates it holds the newest since the last 0', () => {
    const step = fc.record({ target: fc.nat(40), version: fc.nat(5), forgets: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const targets = createTable()
        const known = new Map<number, number>()
        for (const [at, { target, version, forgets }] of steps.entries()) {
          const before = known.get(target)
          const isNewer = before === undefined || (version === 0 ? before !== 0 : version > before)
          expect(targets.update(target, version, json(version), at)).toBe(isNewer)
          if (isNewer) known.set(target, version)
          expect(targets.version(target)).toBe(known.get(target)!)
          expect(targets.frame(target, 'json')).toContain(json(known.get(target)!))
          if (!forgets) continue
          targets.forget(target)
          known.delete(target)
        }
        for (let target = 0; target <= 40; target++) expect(targets.isKnown(target)).toBe(known.has(target))
      }),
    )
  })
})
