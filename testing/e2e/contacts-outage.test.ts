// Editing a contact list while Redis does not answer: either nothing is edited, or the edit holds and
// every watcher is told of it. A user who was taken off a list does not go on seeing its owner.
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { hidden, isHidden } from './audience/audience.ts'
import { describeWithOutages, holdTable, isWhole } from './outages.ts'
import { call, isOnline, type Person, watch } from './scene.ts'

describeWithOutages('contact lists while Redis is away', (scene, services, settings) => {
  const CONTACTS = '/api/v1/users/bob/contacts'

  /** Bob is here and shows himself to his contacts, of whom alice, who watches, is one. */
  async function enter() {
    const shared = await settings()
    const { url } = await scene.server(shared)
    await call(url, 'dev:bob', 'PUT', '/api/v1/presence/settings', { status_visibility: 'contacts' })
    await call(url, 'dev', 'PUT', CONTACTS, { user_ids: ['alice', 'carol'] })
    await scene.person(url, 'bob')
    const alice = await scene.person(url, 'alice')
    const carol = await scene.person(url, 'carol')
    for (const viewer of [alice, carol]) {
      await watch(viewer, ['bob'])
      await viewer.sees('bob', isOnline)
    }
    const remove = () => call(url, 'dev', 'DELETE', CONTACTS, { user_ids: ['alice'] })
    return { url, alice, carol, remove, databaseUrl: shared.database_url }
  }

  /** What alice reads of bob. */
  async function asked(url: string): Promise<object> {
    return (await call<object>(url, 'dev:alice', 'GET', '/api/v1/presence/bob')).body
  }

  async function explained(url: string): Promise<object> {
    const path = '/api/v1/explain?user_id=bob&viewer_id=alice'
    return (await call<{ answer: object }>(url, 'dev', 'GET', path)).body.answer
  }

  /** By pushes, by asking, and by the reasons that are given for it. */
  async function expectHidden(url: string, alice: Person, carol: Person): Promise<void> {
    await alice.sees('bob', isHidden)
    expect(await asked(url)).toMatchObject(hidden('bob'))
    expect(await explained(url)).toMatchObject(hidden('bob'))
    const since = alice.heard.length
    await call(url, 'dev:bob', 'PUT', '/api/v1/presence/status', { text: 'for contacts only' })
    await carol.sees('bob', ({ custom_status }) => custom_status?.text === 'for contacts only')
    expect(alice.sightings('bob', since)).toEqual([])
  }

  test('[S5][W2] an edit that could not be announced is refused as a whole', async () => {
    const { url, alice, carol, remove } = await enter()
    await services().redis.kill('SIGSTOP')
    try {
      expect((await remove()).status).toBe(503)
      expect((await call(url, 'dev', 'GET', CONTACTS)).body).toEqual({ user_ids: ['alice', 'carol'] })
    } finally {
      await services().redis.kill('SIGCONT')
    }
    await isWhole(url)
    expect((await remove()).status).toBe(204)
    await expectHidden(url, alice, carol)
  })

  test('[S5][W2] an edit that was written before Redis went away is told when it is back', async () => {
    const { url, alice, carol, remove, databaseUrl } = await enter()
    const held = await holdTable(databaseUrl, 'contact')
    const removed = remove()
    await held.isWaitedFor()
    await services().redis.kill('SIGSTOP')
    try {
      expect(await asked(url)).toMatchObject({ status: 'online' })
      await held.release()
      expect((await removed).status).toBe(204)
      expect((await call(url, 'dev', 'GET', CONTACTS)).body).toEqual({ user_ids: ['carol'] })
      // Reads need not wait for it.
      expect(await asked(url)).toMatchObject(hidden('bob'))
    } finally {
      await services().redis.kill('SIGCONT')
    }
    await isWhole(url)
    await expectHidden(url, alice, carol)
  })

  test('[S7] an explanation goes by the list itself, whether an edit was announced or not', async () => {
    const { url, databaseUrl } = await enter()
    expect(await asked(url)).toMatchObject({ status: 'online' })
    const sql = new SQL(databaseUrl, { max: 1 })
    await sql.unsafe("DELETE FROM contact WHERE owner_id = 'bob'")
    await sql.close()
    expect(await explained(url)).toMatchObject(hidden('bob'))
    expect(await asked(url)).toMatchObject(hidden('bob'))
  })
})
