// Settings over HTTP: what was not chosen has a default, PUT merges, bad values change nothing, and
// choices made at the same moment do not undo each other. By the user or by the backend, it is the
// same settings.
import { describe, expect, test } from 'bun:test'
import type { Settings } from '@greendot/protocol'
import { DEFAULT_SETTINGS } from '../clients/default-settings.ts'
import { type Chosen, choose, SERVER_KEY } from './audience/audience.ts'
import { call, useScene, watch } from './scene.ts'

const scene = useScene()

const OWN = '/api/v1/presence/settings'
const NAMED = '/api/v1/users/bob/settings'
const LISTED_MAX = 1_000
const WEEK_MS = 7 * 86_400_000

const ALL_CHOSEN: Settings = {
  status_visibility: 'contacts',
  last_seen_visibility: 'nobody',
  reciprocal: true,
  last_seen_precision: 'approximate',
  allow: ['carol', 'dave'],
  deny: ['mallory'],
  away_after_ms: 60_000,
  history: true,
}

/** Both doors to the settings of bob. */
async function settingsOf(url: string): Promise<Settings> {
  const own = await call<Settings>(url, 'dev:bob', 'GET', OWN)
  const named = await call<Settings>(url, SERVER_KEY, 'GET', NAMED)
  expect([own.status, named.status]).toEqual([200, 200])
  expect(named.body).toEqual(own.body)
  return own.body
}

describe('reading', () => {
  test('[S5] shows the defaults where nothing was chosen', async () => {
    const { url } = await scene.server()
    expect(await settingsOf(url)).toEqual(DEFAULT_SETTINGS)
  })

  test('[S5] shows the defaults of this server', async () => {
    const { url } = await scene.server({ default_visibility: 'contacts', away_after_ms: 5_000 })
    const defaults = {
      ...DEFAULT_SETTINGS,
      status_visibility: 'contacts',
      last_seen_visibility: 'contacts',
      away_after_ms: 5_000,
    } as const
    expect(await settingsOf(url)).toEqual(defaults)
    await choose(url, 'bob', { status_visibility: 'nobody', last_seen_visibility: 'nobody' })
    expect(await settingsOf(url)).toMatchObject({ status_visibility: 'nobody' })
    // Null gives it back to the server, which is not the same as choosing what the server has.
    expect(await choose(url, 'bob', { status_visibility: null, last_seen_visibility: null })).toEqual(
      defaults,
    )
  })

  test('[S5] outlives connections and a crash', async () => {
    const first = await scene.process()
    await choose(first.url, 'bob', ALL_CHOSEN)
    await first.kill()
    const second = await scene.process({}, first.folder)
    expect(await settingsOf(second.url)).toEqual(ALL_CHOSEN)
    expect((await call(second.url, 'dev:alice', 'GET', '/api/v1/presence/bob')).body).toMatchObject({
      version: 0,
    })
  })
})

describe('changing', () => {
  test('[S5] merges: what is not named stays, and the answer is the whole', async () => {
    const { url } = await scene.server()
    let expected = DEFAULT_SETTINGS
    for (const [name, value] of Object.entries(ALL_CHOSEN)) {
      expected = { ...expected, [name]: value }
      expect(await choose(url, 'bob', { [name]: value })).toEqual(expected)
      expect(await settingsOf(url)).toEqual(expected)
    }
    expect(await choose(url, 'bob', {})).toEqual(ALL_CHOSEN)
    // A list is one value: naming it replaces it.
    expect(await choose(url, 'bob', { allow: ['erin'], reciprocal: false })).toEqual({
      ...ALL_CHOSEN,
      allow: ['erin'],
      reciprocal: false,
    })
    const back: Chosen = {
      ...DEFAULT_SETTINGS,
      status_visibility: null,
      last_seen_visibility: null,
      away_after_ms: null,
    }
    expect(await choose(url, 'bob', back)).toEqual(DEFAULT_SETTINGS)
  })

  test('[S5] by the backend and by the user is the same, and changes no other user', async () => {
    const { url } = await scene.server()
    const byBackend = { status_visibility: 'contacts', deny: ['mallory'] } as const
    const answer = await call<Settings>(url, SERVER_KEY, 'PUT', NAMED, byBackend)
    expect(answer).toEqual({
      status: 200,
      body: { ...DEFAULT_SETTINGS, status_visibility: 'contacts', deny: ['mallory'] },
    })
    expect(await choose(url, 'bob', { deny: ['trudy'] })).toEqual({ ...answer.body, deny: ['trudy'] })
    expect(await settingsOf(url)).toEqual({ ...answer.body, deny: ['trudy'] })
    expect((await call<Settings>(url, 'dev:carol', 'GET', OWN)).body).toEqual(DEFAULT_SETTINGS)
    const forbidden = await call(url, 'dev:bob', 'PUT', NAMED, { deny: [] })
    expect(forbidden).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    expect(await call(url, 'dev:carol', 'GET', NAMED)).toMatchObject({ status: 403 })
    expect(await call(url, SERVER_KEY, 'PUT', OWN, { deny: [] })).toMatchObject({ status: 403 })
    expect((await settingsOf(url)).deny).toEqual(['trudy'])
  })

  test('[S5] lists hold 1,000 each, repeats count once, and order is kept', async () => {
    const { url } = await scene.server()
    const thousand = Array.from({ length: LISTED_MAX }, (_, n) => `${'x'.repeat(8)}-${n}`)
    const chosen = await choose(url, 'bob', { allow: thousand, deny: thousand.toReversed() })
    expect(chosen).toEqual({ ...DEFAULT_SETTINGS, allow: thousand, deny: thousand.toReversed() })
    for (const list of ['allow', 'deny']) {
      const answer = await call(url, 'dev:bob', 'PUT', OWN, { [list]: [...thousand, 'one-more'] })
      expect(answer).toMatchObject({ status: 400, body: { code: 'too_many_ids' } })
    }
    const long = Array.from({ length: 150 }, (_, n) => `${'x'.repeat(120)}-${n}`)
    const answer = await call(url, 'dev:bob', 'PUT', OWN, { allow: long })
    expect(answer).toMatchObject({ status: 400, body: { code: 'too_many_ids' } })
    expect(await settingsOf(url)).toEqual(chosen)
    expect((await choose(url, 'bob', { allow: ['b', 'a', 'b', 'c', 'a'], deny: [] })).allow).toEqual([
      'b',
      'a',
      'c',
    ])
    // The last of a long list counts like the first.
    await choose(url, 'bob', { allow: [], deny: thousand })
    const read = (token: string) => call(url, token, 'GET', '/api/v1/presence/bob')
    await call(url, 'dev:bob', 'PUT', '/api/v1/presence/status', { text: 'hello' })
    expect((await read(`dev:${thousand.at(-1)}`)).body).toMatchObject({ version: 0 })
    expect((await read('dev:one-more')).body).toMatchObject({ custom_status: { text: 'hello' } })
  })

  test('[S5] two merges at the same moment both hold', async () => {
    const { url } = await scene.server()
    for (let round = 0; round < 20; round++) {
      const allow = [`friend-${round}`]
      const deny = [`foe-${round}`]
      const visibility = round % 2 === 0 ? 'nobody' : 'contacts'
      await Promise.all([
        choose(url, 'bob', { allow }),
        call(url, SERVER_KEY, 'PUT', NAMED, { deny }),
        choose(url, 'bob', { status_visibility: visibility }),
        choose(url, 'bob', { away_after_ms: 1_000 + round }),
        choose(url, 'bob', { reciprocal: round % 2 === 0, last_seen_precision: 'approximate' }),
      ])
      expect(await settingsOf(url)).toEqual({
        status_visibility: visibility,
        last_seen_visibility: 'everyone',
        reciprocal: round % 2 === 0,
        last_seen_precision: 'approximate',
        allow,
        deny,
        away_after_ms: 1_000 + round,
        history: false,
      })
    }
  })
})

describe('bad values', () => {
  const long = 'x'.repeat(129)
  const BAD: readonly [keyof Settings, unknown, string][] = [
    ...['friends', '', 'EVERYONE', 7, true, [], {}].flatMap((value): [keyof Settings, unknown, string][] => [
      ['status_visibility', value, 'bad_request'],
      ['last_seen_visibility', value, 'bad_request'],
    ]),
    ...['yes', 0, 1, null, []].map((value): [keyof Settings, unknown, string] => [
      'reciprocal',
      value,
      'bad_request',
    ]),
    ...['rough', null, 1, []].map((value): [keyof Settings, unknown, string] => [
      'last_seen_precision',
      value,
      'bad_request',
    ]),
    ...(['allow', 'deny'] as const).flatMap((list): [keyof Settings, unknown, string][] => [
      [list, 'bob', 'bad_request'],
      [list, null, 'bad_request'],
      [list, { 0: 'bob' }, 'bad_request'],
      [list, ['fine', 'no spaces'], 'invalid_id'],
      [list, ['fine', ''], 'invalid_id'],
      [list, [long], 'invalid_id'],
      [list, [7], 'invalid_id'],
      [list, [null], 'invalid_id'],
      [list, Array.from({ length: LISTED_MAX + 1 }, (_, n) => `${n}`), 'too_many_ids'],
    ]),
    ...[0, -1, 1.5, WEEK_MS + 1, 1e300, '60000', true, [], {}].map(
      (value): [keyof Settings, unknown, string] => ['away_after_ms', value, 'bad_request'],
    ),
  ]

  test('[S5][D4] each gets 400 with a code, and changes nothing, not even what was good beside it', async () => {
    const { url } = await scene.server()
    await choose(url, 'bob', ALL_CHOSEN)
    await scene.person(url, 'bob')
    const alice = await scene.person(url, 'alice')
    await watch(alice, ['bob', 'marker'])
    const since = alice.heard.length
    for (const [name, value, code] of BAD) {
      const body = { status_visibility: 'everyone', allow: ['alice'], [name]: value }
      const answers = await Promise.all([
        call(url, 'dev:bob', 'PUT', OWN, body),
        call(url, SERVER_KEY, 'PUT', NAMED, body),
      ])
      for (const answer of answers) {
        const got = { name, value, status: answer.status, code: (answer.body as { code: string }).code }
        expect(got).toEqual({ name, value, status: 400, code })
      }
    }
    for (const body of [[], [ALL_CHOSEN]]) {
      expect(await call(url, 'dev:bob', 'PUT', OWN, body)).toMatchObject({ status: 400 })
    }
    expect(await settingsOf(url)).toEqual(ALL_CHOSEN)
    await scene.mark(alice, url)
    expect(alice.sightings('bob', since)).toEqual([])
  })

  test('[D4] the ends of away_after_ms are fine', async () => {
    const { url } = await scene.server()
    for (const awayAfterMs of [1, WEEK_MS])
      expect((await choose(url, 'bob', { away_after_ms: awayAfterMs })).away_after_ms).toBe(awayAfterMs)
  })
})
