import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GRAPHS, type GraphSpec, makeGraph } from './graphs.ts'

const specs = fc
  .record({
    kind: fc.constantFrom(...GRAPHS),
    users: fc.integer({ min: 2, max: 120 }),
    contacts: fc.integer({ min: 0, max: 130 }),
    seed: fc.integer({ min: 0, max: 2 ** 31 }),
  })
  .map((spec): GraphSpec => spec)

describe('graphs', () => {
  test('[C9] no user watches itself or a target twice, and all targets exist', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        const graph = makeGraph(spec)
        for (let user = 0; user < spec.users; user++) {
          const contacts = [...graph.contactsOf(user)]
          expect(contacts).not.toContain(user)
          expect(new Set(contacts).size).toBe(contacts.length)
          expect(contacts.every((contact) => contact >= 0 && contact < spec.users)).toBe(true)
        }
      }),
    )
  })

  test('[C9] each user has the number of contacts asked for, as far as there are users', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        fc.pre(spec.kind !== 'star')
        const graph = makeGraph(spec)
        const wanted = Math.min(spec.contacts, spec.users - 1)
        for (let user = 0; user < spec.users; user++) expect(graph.contactsOf(user).length).toBe(wanted)
        expect(graph.edges).toBe(wanted * spec.users)
      }),
    )
  })

  test('[C9] the watchers of a user are the contact lists that contain the user', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        const graph = makeGraph(spec)
        const counted = new Int32Array(spec.users)
        for (let user = 0; user < spec.users; user++)
          for (const contact of graph.contactsOf(user)) counted[contact]!++
        expect(graph.watchers).toEqual(counted)
      }),
    )
  })

  test('[C9] the same seed gives the same graph, another seed another', () => {
    const lists = (spec: GraphSpec) => {
      const graph = makeGraph(spec)
      return Array.from({ length: spec.users }, (_, user) => [...graph.contactsOf(user)])
    }
    for (const kind of ['random', 'power-law'] as const) {
      const spec = { kind, users: 200, contacts: 10, seed: 7 }
      expect(lists(spec)).toEqual(lists(spec))
      expect(lists(spec)).not.toEqual(lists({ ...spec, seed: 8 }))
    }
  })

  test('[C9] on a ring with an even number of contacts, watching is mutual', () => {
    const graph = makeGraph({ kind: 'ring', users: 50, contacts: 6, seed: 0 })
    expect([...graph.contactsOf(0)].sort((a, b) => a - b)).toEqual([1, 2, 3, 47, 48, 49])
    for (let user = 0; user < 50; user++)
      for (const contact of graph.contactsOf(user)) expect([...graph.contactsOf(contact)]).toContain(user)
  })

  test('[C9] a power law has a few users with very many watchers, a random graph has none', () => {
    const most = (kind: 'random' | 'power-law') =>
      Math.max(...makeGraph({ kind, users: 2_000, contacts: 18, seed: 1 }).watchers)
    expect(most('power-law')).toBeGreaterThan(18 * 20)
    expect(most('random')).toBeLessThan(18 * 3)
  })

  test('[C9] in a star all others watch user 0', () => {
    const graph = makeGraph({ kind: 'star', users: 5, contacts: 1, seed: 0 })
    expect([...graph.watchers]).toEqual([4, 0, 0, 0, 0])
  })
})
