// Users for the pictures: they arrive, watch each other, change their status and leave, over real connections.
import { connect, type TestClient } from '../clients/client.ts'

const VISITORS = 60
const STEP_MS = 250
const HEARTBEAT_EVERY_STEPS = 40
const PLATFORMS = ['web', 'mobile', 'desktop', 'web', 'tablet']
/** Seven, which does not divide the cycle of the visitors, so that each makes all choices. */
const CHOICES = ['online', 'away', 'busy', 'online', 'away', 'online', 'online']

export interface Play {
  urls: readonly string[]
  durationMs: number
  /** A user that does nothing but stay. */
  staying: TestClient
}

/** Resolves after this time, with the last users still there. */
export async function playVisitors({ urls, durationMs, staying }: Play): Promise<void> {
  const here = new Map<number, TestClient>()
  const steps = Math.round(durationMs / STEP_MS)
  for (let step = 0; step < steps; step++) {
    await Bun.sleep(STEP_MS)
    // As many as a day has: few at first, then many, then fewer again.
    const wanted = Math.round(VISITORS * Math.sin((Math.PI * (step + 0.06 * steps)) / (1.2 * steps)))
    const visitor = step % VISITORS
    if (here.size < wanted && !here.has(visitor)) here.set(visitor, await arrive(urls, visitor))
    else if (here.size > wanted) leave(here, visitor)
    if (step % 2 === 0) change(here.get((step * 7) % VISITORS), step)
    if (step % HEARTBEAT_EVERY_STEPS === 0)
      for (const client of [staying, ...here.values()]) client.send({ type: 'heartbeat', activity: 'active' })
  }
}

async function arrive(urls: readonly string[], visitor: number): Promise<TestClient> {
  const url = urls[visitor % urls.length]!
  const client = await connect(url, `user-${visitor}`, { platform: PLATFORMS[visitor % PLATFORMS.length]! })
  const watched = Array.from({ length: 30 }, (_, index) => `user-${(visitor + index * 2) % VISITORS}`)
  client.send({ type: 'watch', user_ids: watched })
  return client
}

function leave(here: Map<number, TestClient>, visitor: number): void {
  here.get(visitor)?.close()
  here.delete(visitor)
}

const change = (client: TestClient | undefined, step: number): void =>
  client?.send({ type: 'set_availability', status: CHOICES[(step >> 1) % CHOICES.length] })
