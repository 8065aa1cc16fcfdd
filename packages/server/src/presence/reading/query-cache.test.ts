// What the cache of queries keeps, for how long, and what it never keeps.
import { expect, test } from 'bun:test'
import { aRecord, SOME_INSTANT as NOW } from '../../../../../testing/worlds/records.ts'
import { NO_PRIVACY_CHOSEN } from '../core/privacy.ts'
import { createQueryCache } from './query-cache.ts'

const CACHE_MS = 1_000
const CACHED_MAX = 50_000
const RECORD = aRecord()

test('[R6] a record is kept for the time that is configured', () => {
  const cache = createQueryCache(CACHE_MS)
  cache.put('bob', RECORD, NOW, cache.mark())
  expect(cache.get('bob', NOW + CACHE_MS - 1)).toBe(RECORD)
  expect(cache.get('bob', NOW + CACHE_MS)).toBeUndefined()
  expect(cache.get('ann', NOW)).toBeUndefined()
})

test('[R6] a user that changed is dropped, and no other', () => {
  const cache = createQueryCache(CACHE_MS)
  for (const userId of ['ann', 'bob']) cache.put(userId, RECORD, NOW, cache.mark())
  cache.forget('bob')
  expect([cache.get('ann', NOW), cache.get('bob', NOW)]).toEqual([RECORD, undefined])
})

test('[S6, R6] what was read before a user changed is not kept after it', () => {
  const cache = createQueryCache(CACHE_MS)
  const mark = cache.mark()
  cache.forget('bob')
  for (const userId of ['ann', 'bob']) cache.put(userId, RECORD, NOW, mark)
  expect([cache.get('ann', NOW), cache.get('bob', NOW)]).toEqual([RECORD, undefined])
  cache.put('bob', RECORD, NOW, cache.mark())
  expect(cache.get('bob', NOW)).toBe(RECORD)
})

test('[S6] unknown users and users with privacy settings are not kept', () => {
  const cache = createQueryCache(CACHE_MS)
  cache.put('unknown', null, NOW, cache.mark())
  cache.put('bob', aRecord({ privacy: { ...NO_PRIVACY_CHOSEN, setAt: NOW } }), NOW, cache.mark())
  expect([cache.get('unknown', NOW), cache.get('bob', NOW)]).toEqual([undefined, undefined])
})

test('[R6] zero turns it off', () => {
  const cache = createQueryCache(0)
  cache.put('bob', RECORD, NOW, cache.mark())
  expect(cache.get('bob', NOW)).toBeUndefined()
})

test('[R6] it is bounded, and the oldest go first', () => {
  const cache = createQueryCache(CACHE_MS)
  for (let at = 0; at <= CACHED_MAX; at++) cache.put(`user-${at}`, RECORD, NOW, cache.mark())
  expect(cache.get('user-0', NOW)).toBeUndefined()
  expect(cache.get(`user-${CACHED_MAX}`, NOW)).toBe(RECORD)
})
