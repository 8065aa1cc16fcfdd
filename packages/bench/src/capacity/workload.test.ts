import { describe, expect, test } from 'bun:test'
import { DEFAULT_WORKLOAD } from '../../testing/default-workload.ts'
import { readWorkload } from './workload.ts'

describe('[C9] workloads', () => {
  const read = (flags: Record<string, string>) => readWorkload((flag) => flags[flag] ?? null)

  test('numbers may have separators and exponents', () => {
    const { users, online, flushMs } = DEFAULT_WORKLOAD
    expect(read({})).toEqual({ ok: true, value: DEFAULT_WORKLOAD })
    for (const text of ['50000000', '50_000_000', '50,000,000', '5e7']) {
      expect(read({ users: text })).toEqual({ ok: true, value: { ...DEFAULT_WORKLOAD, users: 5e7 } })
    }
    expect([users, online, flushMs].every((value) => value > 0)).toBe(true)
  })

  test('the encoding is that of the client kit, or one of the two', () => {
    expect(DEFAULT_WORKLOAD.encoding).toBe('compact')
    const value = { ...DEFAULT_WORKLOAD, encoding: 'json' as const }
    expect(read({ encoding: 'json' })).toEqual({ ok: true, value })
    expect(read({ encoding: 'xml' })).toEqual({ ok: false, problem: '--encoding: is json or compact' })
  })

  for (const [flag, text] of [
    ['users', 'many'],
    ['users', '0'],
    ['users', '1.5'],
    ['online', '30'],
    ['online', '0'],
    ['utilisation', '1.1'],
    ['contacts', '-1'],
    ['cores', ''],
  ] as const) {
    test(`--${flag} "${text}" is refused`, () => {
      expect(read({ [flag]: text })).toEqual({
        ok: false,
        problem: expect.stringContaining(`--${flag}: needs a`),
      })
    })
  }
})
