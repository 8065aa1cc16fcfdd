// A lone server has its change log in memory. What it has acknowledged must be told all the same when it is killed at once.
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { call, useScene } from '../e2e/scene.ts'
import { WAIT_MS } from '../services/within.ts'
import { addHook } from './hooks.ts'
import { startReceiver } from './receiver.ts'

const scene = useScene()
const ROUNDS = 3
const USERS_PER_ROUND = 30
/** Killed as soon as so many are acknowledged. */
const ACKNOWLEDGED = 10

test(
  '[X5] [C7] a lone server that is killed tells every change that it had acknowledged',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'greendot-lone-'))
    scene.onEnd(() => rmSync(folder, { recursive: true, force: true }))
    const database_url = `sqlite://${join(folder, 'greendot.db')}`
    const start = () => scene.process({ database_url, gateway_lease_ms: 1_000 })
    const receiver = startReceiver(scene.onEnd)
    let server = await start()
    await addHook(server.url, { url: receiver.url, events: ['status.changed'] })
    const acknowledged: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const { promise: enough, resolve } = Promise.withResolvers<void>()
      let answered = 0
      async function change(userId: string): Promise<void> {
        const path = `/api/v1/users/${userId}/status`
        const { status } = await call(server.url, 'dev', 'PUT', path, { text: `I am ${userId}` })
        if (status !== 200) return
        acknowledged.push(userId)
        if (++answered === ACKNOWLEDGED) resolve()
      }
      // Those that are not answered fail with the connection.
      const changes = Array.from({ length: USERS_PER_ROUND }, (_, at) =>
        change(`user-${round}-${at}`).catch(() => {}),
      )
      await enough
      await server.kill()
      await Promise.all(changes)
      server = await start()
    }
    await receiver.gets('every acknowledged change', (events) => {
      const told = new Set(events.map(({ user_id }) => user_id))
      return acknowledged.every((userId) => told.has(userId))
    })
    expect(acknowledged.length).toBeGreaterThanOrEqual(ROUNDS * ACKNOWLEDGED)
  },
  4 * WAIT_MS,
)
