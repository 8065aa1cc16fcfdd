// A TCP proxy between two processes, in a program of its own (proxy-program.ts), that can break the connection.
import { join } from 'node:path'
import { within } from '../services/within.ts'
import type { ProxyMode } from './proxy-program.ts'

const ANSWER_MS_MAX = 5_000

export interface TcpProxy {
  /** The port that the proxy listens on. */
  readonly port: number
  setMode(mode: ProxyMode): Promise<void>
  stop(): Promise<void>
}

export async function startProxy(targetPort: number): Promise<TcpProxy> {
  let answer = Promise.withResolvers<unknown>()
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'proxy-program.ts'), String(targetPort)], {
    // The program ends by itself when this process does.
    ipc: (message) => answer.resolve(message),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const { port } = (await within(ANSWER_MS_MAX, 'the start of the proxy', answer.promise)) as { port: number }
  return {
    port,
    async setMode(mode) {
      answer = Promise.withResolvers()
      child.send(mode)
      await within(ANSWER_MS_MAX, mode, answer.promise)
    },
    async stop() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
