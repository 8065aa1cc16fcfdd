import { describe, expect, test } from 'bun:test'
import { chunksOf } from './chunks.ts'

describe('chunksOf', () => {
  test('every slice but the last is full, and together they are the list', () => {
    expect([...chunksOf([1, 2, 3, 4, 5], 2)]).toEqual([[1, 2], [3, 4], [5]])
    expect([...chunksOf([1, 2, 3, 4], 2)]).toEqual([
      [1, 2],
      [3, 4],
    ])
  })

  test('a list shorter than the size is one slice, an empty list is none', () => {
    expect([...chunksOf(['a'], 10)]).toEqual([['a']])
    expect([...chunksOf([], 10)]).toEqual([])
  })
})
