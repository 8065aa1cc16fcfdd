import { describe, expect, test } from 'bun:test'
import { parseRedisUrl } from './url.ts'

const OPEN = { username: null, password: null, tls: false }

describe('redis url', () => {
  test('[C2] a single server, with and without port, login and database', () => {
    const node = { host: 'cache', port: 6379 }
    expect(parseRedisUrl('redis://cache')).toEqual({ kind: 'single', node, db: 0, ...OPEN })
    expect(parseRedisUrl(' redis://cache:6379/ ')).toEqual({ kind: 'single', node, db: 0, ...OPEN })
    expect(parseRedisUrl('redis://127.0.0.1:7001/3')).toEqual({
      kind: 'single',
      node: { host: '127.0.0.1', port: 7001 },
      db: 3,
      ...OPEN,
    })
    expect(parseRedisUrl('rediss://greendot:se%3Acret%40@cache')).toEqual({
      kind: 'single',
      node,
      db: 0,
      username: 'greendot',
      password: 'se:cret@',
      tls: true,
    })
  })

  test('[C2] a password alone, one with an @ in it, and an address in brackets', () => {
    expect(parseRedisUrl('redis://:secret@cache')).toMatchObject({ username: null, password: 'secret' })
    expect(parseRedisUrl('redis://u:p@ss@cache')).toMatchObject({
      username: 'u',
      password: 'p@ss',
      node: { host: 'cache' },
    })
    expect(parseRedisUrl('redis://[::1]:7001')).toMatchObject({ node: { host: '::1', port: 7001 } })
  })

  test('[C2] a cluster names one node or several', () => {
    expect(parseRedisUrl('redis-cluster://a:7001,b,[fd00::2]:7003')).toEqual({
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 7001 },
        { host: 'b', port: 6379 },
        { host: 'fd00::2', port: 7003 },
      ],
      ...OPEN,
    })
    expect(parseRedisUrl('redis-cluster://u:p@a:7001')).toMatchObject({
      kind: 'cluster',
      username: 'u',
      password: 'p',
      tls: false,
    })
    expect(parseRedisUrl('rediss-cluster://a:7001')).toMatchObject({ kind: 'cluster', tls: true })
  })

  test.each([
    ['', 'not well formed'],
    ['cache:6379', 'not well formed'],
    ['http://cache:6379', 'not well formed'],
    ['redis://', 'not host:port'],
    ['redis://:6379', 'not host:port'],
    ['redis://cache:port', 'not host:port'],
    ['redis://cache:0', 'not host:port'],
    ['redis://cache:65536', 'not host:port'],
    ['redis-cluster://a:1,,b:2', 'not host:port'],
    ['redis://a:1,b:2', 'redis-cluster://'],
    ['redis://cache/first', 'not a number'],
    ['redis://cache?db=1', 'not well formed'],
    ['redis-cluster://a:1/2', 'no numbered databases'],
    ['redis://hunter2@cache', 'login'],
    ['redis://user:%zz@cache', 'login'],
  ])('[C2] %p is refused in words', (url, words) => {
    const parsed = parseRedisUrl(url)
    expect(parsed.kind).toBe('invalid')
    expect(parsed.kind === 'invalid' && parsed.message).toContain(words)
  })

  test('[C6] no complaint repeats a password', () => {
    for (const url of ['hunter2', 'redis://hunter2@a', 'redis://u:hunter2@a:x', 'redis://u:hunter2@a/x']) {
      expect(JSON.stringify(parseRedisUrl(url))).not.toContain('hunter2')
    }
  })
})
