// Socket.IO as a peer: server.mjs beside this file, on Node, in one process.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Peer, runningPeer } from '../peer.ts'
import { startProcess, untilFound } from '../peer-process.ts'

const SERVER = join(import.meta.dir, 'server.mjs')
const READY_MS_MAX = 15_000

export const socketio: Peer = {
  name: 'socketio',
  title: 'Socket.IO',

  findReason() {
    if (Bun.which('node') === null) return 'it runs on Node, and there is no `node` on the PATH'
    if (!existsSync(SERVER)) return 'its server is a file of the source tree, and this is a compiled binary'
    try {
      Bun.resolveSync('socket.io', import.meta.dir)
      return null
    } catch {
      return 'the package socket.io is not installed: npm install'
    }
  },

  version() {
    const path = Bun.resolveSync('socket.io/package.json', import.meta.dir)
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string }
    const node = Bun.spawnSync([Bun.which('node')!, '--version'])
      .stdout.toString()
      .trim()
    return `${version} on Node ${node}`
  },

  async start({ core, secret }, scope) {
    const command = [Bun.which('node')!, SERVER]
    const env = { PEER_SECRET: secret, NODE_ENV: 'production' }
    const server = startProcess(
      { name: 'the Socket.IO server', command, core, cwd: import.meta.dir, env },
      scope,
    )
    const [, port] = await untilFound(server, () => /ready (\d+)/.exec(server.lastOutput()), READY_MS_MAX)
    return runningPeer(socketio, server, { port: Number(port), secret })
  },
}
