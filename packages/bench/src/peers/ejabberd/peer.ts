// ejabberd as a peer: its own Erlang node without a name, so that no name server is started and none is
// left behind; its configuration, rosters and logs in a temporary folder that goes when it stops.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../platform/ports.ts'
import { BenchProblem } from '../../platform/problem.ts'
import { type Peer, runningPeer } from '../peer.ts'
import { startProcess, untilListening } from '../peer-process.ts'
import { configuration, HOST, keyFile } from './configuration.ts'
import { findEjabberd } from './installation.ts'
import { loadRosters } from './rosters.ts'

const READY_MS_MAX = 60_000

// Schedulers that wait spinning would be counted as work that ejabberd does not do.
const NO_SPINNING = ['+sbwt', 'none', '+sbwtdcpu', 'none', '+sbwtdio', 'none']
// What its own control script gives the runtime.
const RUNTIME = ['+K', 'true', '+P', '250000']

export const ejabberd: Peer = {
  name: 'ejabberd',
  title: 'ejabberd',

  findReason() {
    const found = findEjabberd()
    return typeof found === 'string' ? found : null
  },

  version() {
    const found = findEjabberd()
    return typeof found === 'string' ? '' : found.version
  },

  async start({ contacts, core, secret }, scope) {
    const installation = findEjabberd()
    if (typeof installation === 'string') throw new BenchProblem(installation)
    const folder = mkdtempSync(join(tmpdir(), 'greendot-ejabberd-'))
    scope.add(() => rmSync(folder, { recursive: true, force: true }))
    const spool = join(folder, 'spool')
    mkdirSync(spool)
    await loadRosters(installation, { folder, spool, contacts }, scope)
    const port = freePort()
    const keyPath = join(folder, 'key.json')
    writeFileSync(keyPath, keyFile(secret))
    const configurationPath = join(folder, 'ejabberd.yml')
    writeFileSync(configurationPath, configuration({ port, users: contacts.length, keyPath }))
    const database = ['-mnesia', 'dir', `"${spool}"`]
    const command = [installation.erl, '-noinput', ...RUNTIME, ...NO_SPINNING, ...database, '-s', 'ejabberd']
    const env = {
      HOME: folder,
      ERL_LIBS: installation.libraries,
      ERL_CRASH_DUMP_BYTES: '0',
      EJABBERD_CONFIG_PATH: configurationPath,
      EJABBERD_LOG_PATH: join(folder, 'ejabberd.log'),
    }
    const server = startProcess({ name: 'ejabberd', command, core, cwd: folder, env }, scope)
    await untilListening(server, port, READY_MS_MAX)
    return runningPeer(ejabberd, server, { port, secret, claims: { jid: `{user}@${HOST}` } })
  },
}
