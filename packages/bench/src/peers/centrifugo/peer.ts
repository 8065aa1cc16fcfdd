// Centrifugo as a peer, when its binary is on the PATH or named by CENTRIFUGO. Written from its documents
// for version 6 and never run: no binary could be had where this was written. See docs/peers.md.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../platform/ports.ts'
import { type Peer, runningPeer } from '../peer.ts'
import { startProcess, untilListening } from '../peer-process.ts'
import { NAMESPACE } from './dialogue.ts'

const READY_MS_MAX = 15_000
const CHANNELS_MAX = 1_000

function findBinary(): string | null {
  const named = process.env.CENTRIFUGO
  if (named !== undefined && named !== '') return existsSync(named) ? named : null
  return Bun.which('centrifugo')
}

export const centrifugo: Peer = {
  name: 'centrifugo',
  title: 'Centrifugo',

  findReason() {
    if (findBinary() !== null) return null
    return 'not installed: there is no `centrifugo` on the PATH, and CENTRIFUGO names none'
  },

  version: () => Bun.spawnSync([findBinary()!, 'version']).stdout.toString().trim(),

  async start({ core, secret }, scope) {
    const folder = mkdtempSync(join(tmpdir(), 'greendot-centrifugo-'))
    scope.add(() => rmSync(folder, { recursive: true, force: true }))
    const port = freePort()
    const path = join(folder, 'config.json')
    writeFileSync(path, JSON.stringify(configuration(port, secret)))
    const command = [findBinary()!, '--config', path]
    const server = startProcess({ name: 'Centrifugo', command, core, cwd: folder }, scope)
    await untilListening(server, port, READY_MS_MAX)
    return runningPeer(centrifugo, server, { port, secret })
  },
}

function configuration(port: number, secret: string): object {
  return {
    http_server: { address: '127.0.0.1', port: String(port) },
    log: { level: 'error' },
    usage_stats: { disabled: true },
    client: { token: { hmac_secret_key: secret }, allowed_origins: ['*'], channel_limit: CHANNELS_MAX },
    channel: {
      namespaces: [
        {
          name: NAMESPACE,
          allow_subscribe_for_client: true,
          allow_publish_for_client: true,
          // The latest publication is the state of a user, and is sent to each new subscriber.
          history_size: 1,
          history_ttl: '1h',
          force_recovery: true,
          force_recovery_mode: 'cache',
        },
      ],
    },
  }
}
