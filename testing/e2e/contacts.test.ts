// The contact routes: the app's backend reads, replaces, adds and removes, long lists included. A list is
// a set of ids in one order, an edit is all or nothing, and only server keys come near it.
import { describe, expect, test } from 'bun:test'
import { BODY_BYTES_MAX } from '@greendot/protocol'
import { SERVER_KEY } from './audience/audience.ts'
import { call, useScene } from './scene.ts'

const scene = useScene()

const path = (ownerId: string) => `/api/v1/users/${encodeURIComponent(ownerId)}/contacts`

type Edit = 'PUT' | 'POST' | 'DELETE'
const EDITS: readonly Edit[] = ['PUT', 'POST', 'DELETE']

function contactsOn(url: string) {
  return {
    async list(ownerId: string): Promise<string[]> {
      const answer = await call<{ user_ids: string[] }>(url, SERVER_KEY, 'GET', path(ownerId))
      expect(answer.status).toBe(200)
      expect(Object.keys(answer.body)).toEqual(['user_ids'])
      return answer.body.user_ids
    },
    async edit(method: Edit, ownerId: string, userIds: readonly string[]): Promise<void> {
      const answer = await call(url, SERVER_KEY, method, path(ownerId), { user_ids: userIds })
      expect(answer).toEqual({ status: 204, body: null })
    },
  }
}

describe('editing', () => {
  test('[W2] a list is replaced, added to and removed from, and read in the order of ids', async () => {
    const { url } = await scene.server()
    const { list, edit } = contactsOn(url)
    expect(await list('alice')).toEqual([])
    await edit('PUT', 'alice', ['dave', 'bob'])
    expect(await list('alice')).toEqual(['bob', 'dave'])
    await edit('POST', 'alice', ['carol', 'zoe'])
    expect(await list('alice')).toEqual(['bob', 'carol', 'dave', 'zoe'])
    await edit('DELETE', 'alice', ['dave', 'zoe'])
    expect(await list('alice')).toEqual(['bob', 'carol'])
    await edit('PUT', 'alice', ['erin'])
    expect(await list('alice')).toEqual(['erin'])
    await edit('PUT', 'alice', [])
    expect(await list('alice')).toEqual([])
  })

  test('[W2] repeats count once, in one call and over several', async () => {
    const { url } = await scene.server()
    const { list, edit } = contactsOn(url)
    await edit('PUT', 'alice', ['bob', 'bob', 'carol', 'bob'])
    await edit('POST', 'alice', ['carol', 'carol', 'bob', 'dave', 'dave'])
    await edit('POST', 'alice', ['dave'])
    expect(await list('alice')).toEqual(['bob', 'carol', 'dave'])
    await edit('DELETE', 'alice', ['dave', 'dave', 'never-there'])
    await edit('DELETE', 'alice', ['dave'])
    await edit('POST', 'alice', [])
    await edit('DELETE', 'alice', [])
    expect(await list('alice')).toEqual(['bob', 'carol'])
  })

  test('[W2] edits of one list at the same moment all hold', async () => {
    const { url } = await scene.server()
    const { list, edit } = contactsOn(url)
    await edit('PUT', 'alice', ['gone-0', 'gone-1', 'gone-2', 'gone-3'])
    const added = Array.from({ length: 20 }, (_, n) => `new-${String(n).padStart(2, '0')}`)
    await Promise.all([
      ...added.map((userId) => edit('POST', 'alice', [userId])),
      ...[0, 1, 2, 3].map((n) => edit('DELETE', 'alice', [`gone-${n}`])),
    ])
    expect(await list('alice')).toEqual(added)
  })
})

describe('long lists', () => {
  test('[W2] 50,000 in one call, in the order of ids, then the difference', async () => {
    const { url } = await scene.server()
    const { list, edit } = contactsOn(url)
    const all = Array.from({ length: 50_000 }, (_, n) => `contact-${String(n).padStart(5, '0')}`)
    await edit('PUT', 'alice', all.toReversed())
    expect(await list('alice')).toEqual(all)
    const [kept, rest] = [all.slice(0, 30_000), all.slice(30_000)]
    await edit('PUT', 'alice', [...kept, 'zoe'])
    expect(await list('alice')).toEqual([...kept, 'zoe'])
    await edit('POST', 'alice', rest)
    await edit('DELETE', 'alice', [...kept, 'zoe'])
    expect(await list('alice')).toEqual(rest)
  })

  test('[W2] a body over the limit is refused whole', async () => {
    const { url } = await scene.server()
    const { list, edit } = contactsOn(url)
    await edit('PUT', 'alice', ['bob'])
    const tooMany = Array.from({ length: BODY_BYTES_MAX / 100 }, (_, n) => `${n}`.padEnd(100, '-'))
    for (const method of EDITS) {
      const answer = await call(url, SERVER_KEY, method, path('alice'), { user_ids: tooMany })
      expect(answer).toMatchObject({ status: 413, body: { code: 'too_large' } })
    }
    expect(await list('alice')).toEqual(['bob'])
  })
})

describe('refusals', () => {
  const BAD_BODIES: readonly [string, object, string][] = [
    ['a bad id among good ones', { user_ids: ['carol', 'no spaces', 'dave'] }, 'invalid_id'],
    ['a bad id at the end', { user_ids: ['carol', ''] }, 'invalid_id'],
    ['an id of 129 bytes', { user_ids: ['x'.repeat(129)] }, 'invalid_id'],
    ['a number for an id', { user_ids: ['carol', 7] }, 'invalid_id'],
    ['a list in a list', { user_ids: [['bob']] }, 'invalid_id'],
    ['half a character', { user_ids: ['\ud800'] }, 'invalid_id'],
    ['no list', {}, 'bad_request'],
    ['one id without a list', { user_ids: 'bob' }, 'bad_request'],
    ['null', { user_ids: null }, 'bad_request'],
    ['an object for a list', { user_ids: { 0: 'bob' } }, 'bad_request'],
    ['a bare list', ['bob'], 'bad_request'],
  ]

  test('[W2] bad input gets a code and changes nothing', async () => {
    const { url } = await scene.server()
    const { list, edit } = contactsOn(url)
    await edit('PUT', 'alice', ['bob', 'carol'])
    for (const [what, body, code] of BAD_BODIES) {
      for (const method of EDITS) {
        const answer = await call(url, SERVER_KEY, method, path('alice'), body)
        expect({ what, ...answer }).toMatchObject({ what, status: 400, body: { code } })
      }
    }
    for (const method of ['GET', ...EDITS]) {
      const body = method === 'GET' ? undefined : { user_ids: ['bob'] }
      const answer = await call(url, SERVER_KEY, method, path('no spaces'), body)
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_id' } })
    }
    expect(await list('alice')).toEqual(['bob', 'carol'])
  })

  test('[W2] only server keys read and edit, not even the owner', async () => {
    const { url } = await scene.server()
    const { list, edit } = contactsOn(url)
    await edit('PUT', 'alice', ['bob'])
    for (const method of ['GET', ...EDITS]) {
      const body = method === 'GET' ? undefined : { user_ids: ['mallory'] }
      for (const token of ['dev:alice', 'dev:bob']) {
        const answer = await call(url, token, method, path('alice'), body)
        expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      }
      const answer = await call(url, 'not-a-key', method, path('alice'), body)
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    }
    expect(await list('alice')).toEqual(['bob'])
  })
})
