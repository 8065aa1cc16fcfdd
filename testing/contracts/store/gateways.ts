// The store contract, third part: the state of a gateway. Its lease, which it can lose once and never get
// back; its interest; and the users with a session on it.
import { describe, expect, test } from 'bun:test'
import { aCommit, aRecord, aRecordOn, aSession, SOME_INSTANT as T } from '../../worlds/records.ts'
import { interestedIn, type StoreUnderTest } from './under-test.ts'

export function checkGateways({ store, put }: StoreUnderTest): void {
  describe('leases', () => {
    test('[D2] a lease is live until its instant, and lost from then on', async () => {
      await store().openLease('g1', T)
      await store().openLease('g2', T + 10)
      expect((await store().liveLeases(T - 1)).sort()).toEqual(['g1', 'g2'])
      expect(await store().lostGateways(T - 1)).toEqual([])
      expect(await store().liveLeases(T)).toEqual(['g2'])
      expect(await store().lostGateways(T)).toEqual([{ gatewayId: 'g1', lostAt: T }])
      expect(await store().liveLeases(T)).toEqual(['g2'])
    })

    test('[D2] listing live leases takes none: an expired lease may still be renewed', async () => {
      await store().openLease('g1', T)
      expect(await store().liveLeases(T + 5)).toEqual([])
      expect(await store().renewLease('g1', T + 20)).toBe(true)
      expect(await store().liveLeases(T + 5)).toEqual(['g1'])
      expect(await store().lostGateways(T + 19)).toEqual([])
    })

    test('[D2] renewing moves the expiry', async () => {
      await store().openLease('g1', T)
      expect(await store().renewLease('g1', T + 20)).toBe(true)
      expect(await store().lostGateways(T + 19)).toEqual([])
      expect(await store().lostGateways(T + 20)).toEqual([{ gatewayId: 'g1', lostAt: T + 20 }])
    })

    test('[D2] a lease that was never opened cannot be renewed, and trying opens none', async () => {
      expect(await store().renewLease('g1', T)).toBe(false)
      expect(await store().liveLeases(T - 1)).toEqual([])
      expect(await store().lostGateways(T + 1)).toEqual([])
    })

    test('[D2] a lease that was taken cannot be renewed, before it is dropped or after', async () => {
      await store().openLease('g1', T)
      await store().lostGateways(T)
      expect(await store().renewLease('g1', T + 20)).toBe(false)
      expect(await store().liveLeases(T)).toEqual([])
      expect(await store().lostGateways(T)).toEqual([{ gatewayId: 'g1', lostAt: T }])
      await store().dropGateway('g1')
      expect(await store().renewLease('g1', T + 20)).toBe(false)
      expect(await store().liveLeases(T)).toEqual([])
    })

    test('[D2] a lost gateway is returned again and again until it is dropped', async () => {
      await store().openLease('g1', T)
      await store().openLease('g2', T + 5)
      const g1 = { gatewayId: 'g1', lostAt: T }
      const g2 = { gatewayId: 'g2', lostAt: T + 5 }
      expect(await store().lostGateways(T + 1)).toEqual([g1])
      expect(byName(await store().lostGateways(T + 9))).toEqual([g1, g2])
      // A lost gateway stays lost, also for a clock that is behind.
      expect(byName(await store().lostGateways(T - 9))).toEqual([g1, g2])
      await store().dropGateway('g1')
      expect(await store().lostGateways(T + 9)).toEqual([g2])
      await store().dropGateway('g1')
      await store().dropGateway('g2')
      expect(await store().lostGateways(T + 9)).toEqual([])
    })

    test('[D2] a gateway that retires is lost at once, since the instant it gave', async () => {
      await store().openLease('g1', T + 100)
      await store().openLease('g2', T + 100)
      await store().retireGateway('g1', T + 3)
      expect(await store().liveLeases(T)).toEqual(['g2'])
      expect(await store().renewLease('g1', T + 200)).toBe(false)
      expect(await store().lostGateways(T)).toEqual([{ gatewayId: 'g1', lostAt: T + 3 }])
    })

    test('[D2] a gateway whose lease the store lost can still retire', async () => {
      await store().retireGateway('g1', T)
      expect(await store().lostGateways(T)).toEqual([{ gatewayId: 'g1', lostAt: T }])
    })

    test('[D2] dropping one gateway does not affect the lease of another', async () => {
      await store().openLease('g1', T)
      await store().openLease('g2', T)
      await store().dropGateway('g1')
      await store().dropGateway('never-seen')
      expect(await store().liveLeases(T - 1)).toEqual(['g2'])
      expect(await store().renewLease('g1', T)).toBe(false)
      expect(await store().renewLease('g2', T)).toBe(true)
    })

    test('[C7] of a concurrent renewal and take, exactly one wins', async () => {
      for (let round = 0; round < 10; round++) {
        const gatewayId = `g${round}`
        await store().openLease(gatewayId, T)
        const [renewed, lost] = await Promise.all([
          store().renewLease(gatewayId, T + 50),
          store().lostGateways(T),
        ])
        const taken = lost.some((one) => one.gatewayId === gatewayId)
        expect(taken).toBe(!renewed)
        expect((await store().liveLeases(T)).includes(gatewayId)).toBe(renewed)
        await store().dropGateway(gatewayId)
      }
    })
  })

  describe('gateways', () => {
    test('[W3] dropping a gateway ends its interest and no other', async () => {
      await store().addInterest('g1', ['a', 'b'])
      await store().addInterest('g2', ['b'])
      await store().dropGateway('g1')
      await store().dropGateway('never-seen')
      const results = await store().commit(['a', 'b'].map((id) => aCommit(id)))
      expect(results.map(interestedIn)).toEqual([[], ['g2']])
    })

    test('[W3] interest counts until the gateway is dropped, even when it is lost', async () => {
      await store().openLease('g1', T)
      await store().addInterest('g1', ['a'])
      await store().lostGateways(T)
      const first = await put('a')
      expect(first.interested).toEqual(['g1'])
      await store().dropGateway('g1')
      expect((await put('a', { expectedRevision: first.revision })).interested).toEqual([])
    })

    test('[W3] interest that was dropped, removed or came twice can be added again', async () => {
      await store().addInterest('g1', ['a', 'b'])
      await store().removeInterest('g1', ['b'])
      await store().dropGateway('g1')
      await store().addInterest('g1', ['a', 'b'])
      await store().dropGateway('g1')
      await store().addInterest('g1', ['b'])
      const results = await store().commit(['a', 'b'].map((id) => aCommit(id)))
      expect(results.map(interestedIn)).toEqual([[], ['g1']])
    })

    test('[D2] the users of a dropped gateway can still be found, so that they can be declared lost', async () => {
      await store().openLease('g1', T)
      const a = await put('a', { record: aRecordOn('g1') })
      await store().dropGateway('g1')
      expect(await store().usersOf('g1')).toEqual(['a'])
      expect(await store().attachedGateways()).toEqual(['g1'])
      await put('a', { expectedRevision: a.revision })
      expect(await store().usersOf('g1')).toEqual([])
    })

    test('[D2] the users of a gateway are the users with a live session on it, each once', async () => {
      const twoTabs = aRecord({ sessions: [aSession({ id: '1' }), aSession({ id: '2' })] })
      const closed = aRecord({ sessions: [aSession({ end: { state: 'closed', since: T } })] })
      const lost = aRecord({ sessions: [aSession({ end: { state: 'lost', since: T, provenAt: T } })] })
      await store().commit([
        aCommit('tabs', { record: twoTabs }),
        aCommit('both', { record: aRecordOn('gateway-1', 'g2') }),
        aCommit('closed', { record: closed }),
        aCommit('lost', { record: lost }),
      ])
      expect((await store().usersOf('gateway-1')).sort()).toEqual(['both', 'tabs'])
      expect(await store().usersOf('g2')).toEqual(['both'])
      expect(await store().usersOf('never-seen')).toEqual([])
      expect((await store().attachedGateways()).sort()).toEqual(['g2', 'gateway-1'])
    })

    test('[C7] a gateway with interest alone is listed as well, until its last interest is gone', async () => {
      const a = await put('a', { record: aRecordOn('g1') })
      await store().addInterest('g1', ['a'])
      await store().addInterest('g2', ['a', 'b'])
      const attached = async () => (await store().attachedGateways()).sort()
      expect(await attached()).toEqual(['g1', 'g2'])
      await put('a', { expectedRevision: a.revision })
      await store().removeInterest('g2', ['a'])
      expect(await attached()).toEqual(['g1', 'g2'])
      await store().removeInterest('g2', ['b'])
      expect(await attached()).toEqual(['g1'])
      await store().dropGateway('g1')
      expect(await attached()).toEqual([])
    })

    test('[D2] users of a gateway follow every commit', async () => {
      const steps = [['g1'], ['g1', 'g2'], ['g2'], ['g2', 'g2'], [], ['g1']]
      let revision = 0
      for (const gateways of steps) {
        revision = (await put('a', { expectedRevision: revision, record: aRecordOn(...gateways) })).revision
        for (const gateway of ['g1', 'g2']) {
          expect(await store().usersOf(gateway)).toEqual(gateways.includes(gateway) ? ['a'] : [])
        }
      }
    })

    test('[D2] every valid name is a distinct gateway', async () => {
      const names = ['g', 'G', 'g:{s1}', '{leases}', '*', '__proto__', 'größe']
      for (const [index, name] of names.entries()) {
        await store().openLease(name, T + index)
        await store().addInterest(name, [`watched-${index}`])
      }
      await store().commit(names.map((name, index) => aCommit(`on-${index}`, { record: aRecordOn(name) })))
      const watched = await store().commit(names.map((_, index) => aCommit(`watched-${index}`)))
      expect(watched.map(interestedIn)).toEqual(names.map((name) => [name]))
      for (const [index, name] of names.entries()) {
        expect(await store().usersOf(name)).toEqual([`on-${index}`])
      }
      expect((await store().liveLeases(T - 1)).sort()).toEqual([...names].sort())
    })

    test('[C2] a gateway with interest in 10,000 users is dropped completely', async () => {
      const ids = Array.from({ length: 10_000 }, (_, index) => `user-${index}`)
      await store().addInterest('g1', ids)
      await store().addInterest('g2', ids.slice(0, 10))
      await store().dropGateway('g1')
      const results = await store().commit(ids.map((id) => aCommit(id)))
      expect(results.flatMap(interestedIn)).toEqual(Array.from({ length: 10 }, () => 'g2'))
    })
  })
}

const byName = <Named extends { gatewayId: string }>(gateways: Named[]): Named[] =>
  gateways.sort((a, b) => (a.gatewayId < b.gatewayId ? -1 : 1))
