import { beforeEach, describe, expect, test } from 'bun:test'
import { type BatchSize, createBatchSize } from './batch-size.ts'

const [USERS_MAX, USERS_MIN, STEP] = [1_000, 50, 50]
const [SLOW_MS, QUICK_MS] = [501, 99]

let size: BatchSize
beforeEach(() => {
  size = createBatchSize()
})

describe('[C7] batches', () => {
  test('shrink while the store is slow, down to a limit', () => {
    expect(size.usersMax()).toBe(USERS_MAX)
    size.ended(1, SLOW_MS)
    expect(size.usersMax()).toBe(USERS_MAX / 2)
    for (let batch = 0; batch < 10; batch++) size.ended(1, SLOW_MS)
    expect(size.usersMax()).toBe(USERS_MIN)
  })

  test('are small after one failed, and grow step by step when whole ones are quick', () => {
    size.failed()
    size.ended(USERS_MIN - 1, QUICK_MS)
    size.ended(USERS_MIN, QUICK_MS + 1)
    expect(size.usersMax()).toBe(USERS_MIN)
    size.ended(USERS_MIN, QUICK_MS)
    expect(size.usersMax()).toBe(USERS_MIN + STEP)
    for (let batch = 0; batch < 30; batch++) size.ended(USERS_MAX, QUICK_MS)
    expect(size.usersMax()).toBe(USERS_MAX)
  })
})
