// The archive contract, seventh part: webhooks, their deliveries, and who sends them. A delivery is kept until it was
// sent or given up, the batches of a user are in order, and one process at a time has a webhook.
import { beforeEach, describe, expect, test } from 'bun:test'
import type {
  Archive,
  BatchFailure,
  ToldView,
  Webhook,
  WebhookDelivery,
} from '../../../packages/server/src/archive/port.ts'
import { SOME_INSTANT as T } from '../../worlds/records.ts'

export function aWebhook(id: string, fields: Partial<Webhook> = {}): Webhook {
  return {
    id,
    url: 'https://example.test/hook',
    events: ['user.online'],
    filter: { userIds: null, contactsOf: null, platforms: null, viewerId: null },
    secrets: [{ secret: 'whsec_c2VjcmV0', until: null }],
    state: { state: 'enabled', since: T },
    createdAt: T,
    updatedAt: T,
    ...fields,
  }
}

const delivery = (userId: string, order: number, fields: Partial<WebhookDelivery> = {}): WebhookDelivery => ({
  webhookId: 'h',
  userId,
  order,
  events: `{"n":${order}}`,
  createdAt: T + order,
  ...fields,
})

const view = (userId: string, order: number, fields: Partial<ToldView> = {}): ToldView => ({
  webhookId: 'h',
  userId,
  order,
  status: 'online',
  version: order,
  devices: ['web', 'mobile'],
  customStatus: { text: 'lunch', emoji: null, expires_at: null },
  ...fields,
})

const again = (fields: Partial<BatchFailure> = {}): BatchFailure => ({
  at: T,
  because: 'the endpoint answered 500',
  dueAt: T + 100,
  retryAt: T,
  ...fields,
})

const MANY = 1_200

export function checkArchiveWebhooks(archive: () => Archive): void {
  const hooks = () => archive().webhooks
  const next = (now = T, max = 100, batchId = `b${now}`) => hooks().nextBatch('h', batchId, now, max)
  const orders = async (now = T, max = 100) =>
    (await next(now, max))?.deliveries.map(({ order }) => order) ?? null
  const claim = async (process: string, now: number) =>
    (await hooks().claim(process, now, now + 10)).map(({ id }) => id)

  describe('webhooks', () => {
    beforeEach(async () => {
      await hooks().add(aWebhook('h'), 10)
    })

    test('[X5] are read back as written, in the order of their creation, and not added past the limit', async () => {
      const early = aWebhook('z', {
        url: 'https://example.test/ö',
        events: ['status.changed', 'device.connected'],
        filter: { userIds: ['a', 'zoë'], contactsOf: 'b', platforms: ['web'], viewerId: 'c' },
        secrets: [
          { secret: 'one', until: null },
          { secret: 'two', until: T + 5 },
        ],
        state: { state: 'disabled', at: T, because: 'it failed' },
        createdAt: T - 1,
      })
      expect(await hooks().add(early, 2)).toBe(true)
      expect(await hooks().list()).toEqual([early, aWebhook('h')])
      expect(await hooks().add(aWebhook('third'), 2)).toBe(false)
      expect(await hooks().list()).toHaveLength(2)
    })

    test('[X5] an edit counts if nothing was edited since, and every edit makes another edition', async () => {
      const editions = [await hooks().edition()]
      const edited = aWebhook('h', { url: 'https://other.test/', updatedAt: T + 1 })
      expect(await hooks().edit(edited, T)).toBe(true)
      editions.push(await hooks().edition())
      expect(await hooks().edit(aWebhook('h', { updatedAt: T + 2 }), T)).toBe(false)
      expect(await hooks().list()).toEqual([edited])
      expect(await hooks().edition()).toBe(editions[1]!)
      await hooks().keep([delivery('anna', 1)], [view('anna', 1)])
      expect(await hooks().remove('h')).toBe(true)
      expect(await hooks().remove('h')).toBe(false)
      editions.push(await hooks().edition())
      expect(new Set(editions).size).toBe(3)
      expect(await hooks().told('h', ['anna'])).toEqual([])
      expect(await hooks().health('h')).toMatchObject({ pending: 0, failed: 0 })
    })

    test('[X5] deliveries of a change that comes again are kept once, and none of a webhook that is off', async () => {
      await hooks().add(aWebhook('off', { state: { state: 'disabled', at: T, because: '' } }), 10)
      const others = ['off', 'gone'].map((webhookId) => delivery('anna', 1, { webhookId }))
      await hooks().keep([delivery('anna', 1), ...others], [])
      await hooks().keep([delivery('anna', 1, { events: 'other' }), delivery('anna', 2)], [])
      expect((await next())?.deliveries).toEqual([delivery('anna', 1), delivery('anna', 2)])
      expect(await hooks().health('off')).toMatchObject({ pending: 0 })
      expect(await hooks().health('h')).toMatchObject({ pending: 2, failed: 0, deliveredAt: null })
    })

    test('[X5] a batch is the same until it was delivered, whichever process asks', async () => {
      await hooks().keep([delivery('anna', 1), delivery('bob', 2)], [])
      const first = await next(T, 1)
      expect(first).toMatchObject({ id: `b${T}`, attempts: 0, deliveries: [{ userId: 'anna' }] })
      expect(await next(T + 5, 1, 'other')).toEqual(first)
      await hooks().delivered('h', first!.id, T + 6)
      expect(await orders(T + 7)).toEqual([2])
      expect(await hooks().health('h')).toMatchObject({ pending: 1, deliveredAt: T + 6 })
    })

    test('[X5] [C7] a clock that was set back does not change the order of a user', async () => {
      const back = (order: number) => delivery('anna', order, { createdAt: T - order })
      await hooks().keep([back(1), back(2), back(3), delivery('bob', 1, { createdAt: T - 5 })], [])
      const sent: string[] = []
      for (const now of [T, T + 1]) {
        const batch = await next(now, 2)
        sent.push(...batch!.deliveries.map(({ userId, order }) => `${userId} ${order}`))
        await hooks().delivered('h', batch!.id, now)
      }
      expect(sent).toEqual(['anna 1', 'bob 1', 'anna 2', 'anna 3'])
      await hooks().keep([back(4), back(5)], [])
      expect(await orders(T + 2)).toEqual([4, 5])
    })

    test('[X5] users of a failed batch wait for it; others do not', async () => {
      await hooks().keep([delivery('anna', 1), delivery('bob', 1)], [])
      const first = await next()
      const health = await hooks().failed('h', first!.id, again())
      expect(health).toMatchObject({ failuresInRow: 1, failingSince: T, lastFailure: again().because })
      await hooks().keep([delivery('anna', 2), delivery('carl', 3)], [])
      const second = await next(T + 50)
      expect(second?.deliveries.map(({ userId }) => userId)).toEqual(['carl'])
      await hooks().delivered('h', second!.id, T + 51)
      expect(await next(T + 52)).toBeNull()
      expect(await next(T + 100)).toEqual({ ...first!, attempts: 1 })
      await hooks().delivered('h', first!.id, T + 101)
      expect(await orders(T + 102)).toEqual([2])
      expect(await hooks().health('h')).toMatchObject({ failuresInRow: 0, failingSince: null })
    })

    test('[X5] after an outage everything that failed is due at the first success', async () => {
      for (const user of ['a', 'b', 'c', 'd']) await hooks().keep([delivery(user, 1)], [])
      for (const now of [T, T + 1, T + 2]) {
        const batch = await next(now, 1)
        await hooks().failed('h', batch!.id, again({ dueAt: T + 9_000, retryAt: now }))
      }
      const last = await next(T + 3, 1)
      await hooks().delivered('h', last!.id, T + 3)
      for (const id of [T, T + 1, T + 2]) {
        const due = await next(T + 4)
        expect(due).toMatchObject({ id: `b${id}`, attempts: 1 })
        await hooks().delivered('h', due!.id, T + 4)
      }
    })

    test('[X5] a delivery that was given up is a failure, and waits again when it is replayed', async () => {
      await hooks().keep([delivery('anna', 1), delivery('bob', 1), delivery('bob', 2)], [])
      const batch = await next(T, 2)
      await hooks().failed('h', batch!.id, again({ dueAt: null, at: T + 1 }))
      await hooks().giveUp('h', T + 2, 'switched off')
      const failures = await hooks().failures('h', null, 10)
      expect(
        failures.map(({ userId, order, failedAt, because }) => [userId, order, failedAt, because]),
      ).toEqual([
        ['anna', 1, T + 1, again().because],
        ['bob', 1, T + 1, again().because],
        ['bob', 2, T + 2, 'switched off'],
      ])
      expect(await hooks().failures('h', failures[0]!, 1)).toEqual([failures[1]!])
      expect(await hooks().health('h')).toMatchObject({ pending: 0, failed: 3 })
      expect(await next()).toBeNull()
      expect(await hooks().replay('h', T + 1)).toBe(2)
      expect(await hooks().health('h')).toMatchObject({ pending: 2, failed: 1 })
      expect(await next(T + 3)).toMatchObject({
        attempts: 0,
        deliveries: [{ userId: 'anna' }, { userId: 'bob' }],
      })
      await hooks().trim(T + 2)
      expect(await hooks().health('h')).toMatchObject({ failed: 1 })
      await hooks().trim(T + 3)
      expect(await hooks().health('h')).toMatchObject({ pending: 2, failed: 0 })
    })

    test('[X5] one process has a webhook until it releases it or its claim expires', async () => {
      expect(await claim('one', T)).toEqual([])
      await hooks().keep([delivery('anna', 1)], [])
      const both = await Promise.all([claim('one', T), claim('two', T)])
      expect(both.flat()).toEqual(['h'])
      const [holder, other] = both[0]!.length === 1 ? ['one', 'two'] : ['two', 'one']
      expect(await claim(other!, T + 9)).toEqual([])
      expect(await hooks().renew(holder!, 'h', T + 20)).toBe(true)
      expect(await claim(other!, T + 10)).toEqual([])
      expect(await claim(other!, T + 20)).toEqual(['h'])
      expect(await hooks().renew(holder!, 'h', T + 90)).toBe(false)
      await hooks().release(holder!, 'h')
      expect(await claim(holder!, T + 21)).toEqual([])
      await hooks().release(other!, 'h')
      expect(await claim(holder!, T + 21)).toEqual(['h'])
    })

    test('[X5] a webhook with nothing that is due is not claimed', async () => {
      await hooks().keep([delivery('anna', 1)], [])
      const batch = await next()
      await hooks().failed('h', batch!.id, again({ dueAt: T + 100, retryAt: T + 50 }))
      expect(await claim('one', T + 60)).toEqual([])
      await hooks().keep([delivery('bob', 1)], [])
      expect(await claim('one', T + 49)).toEqual([])
      expect(await hooks().claim('one', T + 60, T + 70)).toEqual([{ id: 'h', failuresInRow: 1 }])
      await hooks().release('one', 'h')
      const off = aWebhook('h', { state: { state: 'disabled', at: T, because: '' }, updatedAt: T + 1 })
      await hooks().edit(off, T)
      expect(await claim('one', T + 200)).toEqual([])
    })

    test('[X5] what a viewer was told is kept with the delivery that told it, or neither is', async () => {
      expect(
        await hooks().keep([delivery('anna', 1)], [view('anna', 1), view('bob', 1, { customStatus: null })]),
      ).toBe(true)
      expect(await hooks().keep([delivery('anna', 9)], [view('carl', 1), view('anna', 1)])).toBe(false)
      expect(await hooks().told('h', ['anna', 'bob', 'carl'])).toEqual([
        view('anna', 1),
        view('bob', 1, { customStatus: null }),
      ])
      expect(await orders()).toEqual([1])
      const hidden = view('anna', 2, { status: null, devices: [], version: 0 })
      expect(await hooks().keep([], [hidden])).toBe(true)
      expect(await hooks().told('h', ['anna'])).toEqual([hidden])
      expect(await hooks().toldUsers('h', '', 1)).toEqual(['anna'])
      expect(await hooks().toldUsers('h', 'anna', 9)).toEqual(['bob'])
    })

    test('[X5, S6] what was told is forgotten with another viewer and other users, and not with another edit', async () => {
      const filter = { userIds: ['anna'], contactsOf: null, platforms: null, viewerId: 'vera' }
      let edits = 0
      const edit = (fields: Partial<Webhook>) =>
        hooks().edit(aWebhook('h', { ...fields, updatedAt: T + ++edits }), T + edits - 1)
      await edit({ filter })
      const filters = [
        { ...filter, viewerId: 'bob' },
        { ...filter, contactsOf: 'vera' },
        { ...filter, userIds: ['anna', 'bob'] },
      ]
      for (const changed of filters) {
        await edit({ filter })
        await hooks().keep([], [view('anna', edits)])
        await edit({ filter, url: 'https://other.test/' })
        await edit({ filter: { ...filter, platforms: ['web'] } })
        expect(await hooks().toldUsers('h', '', 9)).toEqual(['anna'])
        await edit({ filter: changed })
        expect(await hooks().toldUsers('h', '', 9)).toEqual([])
      }
    })

    test('[X5, S6] nothing is told that was seen before an edit', async () => {
      await hooks().edit(aWebhook('h', { updatedAt: T + 1 }), T)
      expect(await hooks().keep([delivery('anna', 1)], [view('anna', 1)], T)).toBe(false)
      expect(await hooks().health('h')).toMatchObject({ pending: 0 })
      expect(await hooks().keep([delivery('anna', 1)], [view('anna', 1)], T + 1)).toBe(true)
    })

    test('[X5] is enabled since an instant', async () => {
      const off = aWebhook('h', { state: { state: 'disabled', at: T, because: 'why' }, updatedAt: T + 1 })
      await hooks().edit(off, T)
      const on = aWebhook('h', { state: { state: 'enabled', since: T + 7 }, updatedAt: T + 2 })
      await hooks().edit(on, T + 1)
      expect(await hooks().list()).toEqual([on])
    })

    test('[X5] [X6] an erasure removes what waits, what failed and what viewers were told', async () => {
      const many = Array.from({ length: MANY }, (_, at) => delivery('anna', at + 1))
      await hooks().keep([...many, delivery('bob', 1)], [view('anna', 1), view('bob', 1)])
      const batch = await next(T, 1)
      await hooks().failed('h', batch!.id, again({ dueAt: null }))
      await archive().beginErasure('anna', T)
      await archive().erase('anna')
      expect(await hooks().keep([delivery('anna', MANY + 1)], [view('anna', MANY), view('carl', 1)])).toBe(
        true,
      )
      await archive().endErasure('anna', T)
      expect(await hooks().health('h')).toMatchObject({ pending: 1, failed: 0 })
      expect(await hooks().toldUsers('h', '', 9)).toEqual(['bob', 'carl'])
      expect((await next(T + 1))?.deliveries).toEqual([delivery('bob', 1)])
    })
  })
}
