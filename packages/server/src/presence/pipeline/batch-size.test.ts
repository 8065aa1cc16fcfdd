import { beforeEach, describe, expect, test } from 'bun:test'
import { type BatchSize, createBatchSize } from './batch-size.ts'

const [USERS_MAX, USERS_MIN] = [1_000, 100]
const [SLOW_MS, QUICK_MS] = [1_001, 199]

let size: BatchSize
beforeEach(() => {
  size = createBatchSize()
})

const shrinkToMin = () => {
  for (let batch = 0; batch < 10; batch++) size.failed()
}

describe('[C7] batches', () => {
  test('shrink while the store is slow or fails, down to a limit', () => {
    expect(size.usersMax()).toBe(USERS_MAX)
    size.ended(1, SLOW_MS)
    expect(size.usersMax()).toBe(USERS_MAX / 2)
    size.failed()
    expect(size.usersMax()).toBe(USERS_MAX / 4)
    shrinkToMin()
    expect(size.usersMax()).toBe(USERS_MIN)
  })

  test('grow again when whole ones are quick', () => {
    shrinkToMin()
    size.ended(USERS_MIN - 1, QUICK_MS)
    size.ended(USERS_MIN, QUICK_MS + 1)
    expect(size.usersMax()).toBe(USERS_MIN)
    size.ended(USERS_MIN, QUICK_MS)
    expect(size.usersMax()).toBe(USERS_MIN * 2)
    for (let batch = 0; batch < 10; batch++) size.ended(USERS_MAX, QUICK_MS)
    expect(size.usersMax()).toBe(USERS_MAX)
  })
})
