// Mosquitto as a peer: the packaged broker in one process, which is how it is made, with its configuration and its
// passwords in a temporary folder that goes when it stops. It keeps retained messages in memory only.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../platform/ports.ts'
import { mintToken } from '../../wires/tokens.ts'
import { userName } from '../../wires/wire.ts'
import { type Peer, runningPeer } from '../peer.ts'
import { startProcess, untilListening } from '../peer-process.ts'
import { configuration, passwordLine } from './configuration.ts'

const READY_MS_MAX = 15_000
const SALT_BYTES = 12
/** Written into its source: what comes on top is tried again by the kernel a second later. */
const BACKLOG_MAX = 100
/** Debian installs it where only root's PATH leads. */
const PLACES = ['/usr/sbin/mosquitto', '/usr/local/sbin/mosquitto']
// Mosquitto cannot check signatures: the token must be known before it starts, so nothing in it is of the clock.
const claims = { iat: 'at any time', exp: 'never' }

const findBinary = (): string | undefined => Bun.which('mosquitto') ?? PLACES.find((path) => existsSync(path))

export const mosquitto: Peer = {
  name: 'mosquitto',
  title: 'Mosquitto',

  findReason() {
    if (findBinary() !== undefined) return null
    return 'there is no `mosquitto` on the PATH (on Debian: apt-get install mosquitto)'
  },

  version() {
    const help = Bun.spawnSync([findBinary()!, '-h']).stdout.toString()
    return /version ([\d.]+)/.exec(help)?.[1] ?? 'of an unknown version'
  },

  async start({ contacts, core, secret }, scope) {
    const folder = mkdtempSync(join(tmpdir(), 'greendot-mosquitto-'))
    scope.add(() => rmSync(folder, { recursive: true, force: true }))
    const passwordPath = join(folder, 'passwords')
    const lines = contacts.map((_, user) => {
      const token = mintToken({ secret, claims }, user, 0)
      return passwordLine(userName(user), token, randomBytes(SALT_BYTES))
    })
    writeFileSync(passwordPath, lines.join(''), { mode: 0o600 })
    const port = freePort()
    const configurationPath = join(folder, 'mosquitto.conf')
    writeFileSync(configurationPath, configuration(port, passwordPath))
    const command = [findBinary()!, '-c', configurationPath]
    const server = startProcess({ name: 'Mosquitto', command, core, cwd: folder }, scope)
    await untilListening(server, port, READY_MS_MAX)
    return { ...runningPeer(mosquitto, server, { port, secret, claims }), backlogMax: BACKLOG_MAX }
  },
}
