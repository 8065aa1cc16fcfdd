// The way from one process to another through a program that can break it (proxy-program.ts).
import { join } from 'node:path'
import { within } from '../services/within.ts'
import type { WayOrder } from './proxy-program.ts'

const ANSWER_MS_MAX = 5_000

export interface Way {
  /** Where the way begins. */
  readonly port: number
  order(order: WayOrder): Promise<void>
  stop(): Promise<void>
}

export async function openWay(targetPort: number): Promise<Way> {
  let heard = Promise.withResolvers<unknown>()
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'proxy-program.ts'), String(targetPort)], {
    // It ends by itself when we do.
    ipc: (message) => heard.resolve(message),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const { port } = (await within(ANSWER_MS_MAX, 'opening a way', heard.promise)) as { port: number }
  return {
    port,
    async order(order) {
      heard = Promise.withResolvers()
      child.send(order)
      await within(ANSWER_MS_MAX, order, heard.promise)
    },
    async stop() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
