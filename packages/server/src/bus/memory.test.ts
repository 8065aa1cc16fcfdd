import { describe, expect, test } from 'bun:test'
import { busContract } from '../../../../testing/contracts/bus.ts'
import { createMemoryBus } from './memory.ts'
import type { BusMessage } from './port.ts'

busContract('memory', async (onError) => createMemoryBus({ onError }))

describe('memory bus', () => {
  const message: BusMessage = { kind: 'self', userId: 'a', revision: 1, isInvisible: false, json: '{}' }

  test('[W8] a message arrives in the turn it was published in, before any timer or I/O', async () => {
    const bus = createMemoryBus()
    const order: string[] = []
    await bus.subscribe('g1', () => order.push('received'))
    const nextTurn = new Promise<void>((resolve) => setImmediate(() => resolve(void order.push('next turn'))))
    bus.publish('g1', [message])
    order.push('published')
    await nextTurn
    expect(order).toEqual(['published', 'received', 'next turn'])
  })

  test('[C7] one subscriber that throws does not keep the message from another', async () => {
    const errors: unknown[] = []
    const bus = createMemoryBus({ onError: (error) => errors.push(error) })
    let received = 0
    await bus.subscribe('g1', () => {
      throw new Error('broken')
    })
    await bus.subscribe('g1', () => {
      received += 1
    })
    bus.publish('g1', [message])
    await Promise.resolve()
    expect(received).toBe(1)
    expect(errors.map(String)).toEqual(['Error: broken'])
  })
})
