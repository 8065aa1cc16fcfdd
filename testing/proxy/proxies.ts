// Starts nginx and Caddy with the files of deploy/, on free ports of the loopback and with a certificate of their own.
// Only addresses, paths and names are replaced, and each of them has to be in the file.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { newFolder, removeFolder, startChild } from '../services/child.ts'
import { freePort, LOOPBACK } from '../services/ports.ts'
import { until, WAIT_MS } from '../services/within.ts'

const DEPLOY = resolve(import.meta.dir, '../../deploy')
/** The name in the certificate; Caddy serves only requests for it. */
const HOST = 'localhost'

export interface RunningProxy {
  /** With TLS. */
  url: string
  /** The certificate, for clients that check it. */
  ca: string
  /** Without TLS; it redirects. */
  plainUrl: string
  /** Everything that it logged so far. */
  logs(): string
  stop(): Promise<void>
}

/** `upstreams` are addresses such as 127.0.0.1:4400. */
export type StartProxy = (program: string, upstreams: readonly string[]) => Promise<RunningProxy>

/** Replaces each text, everywhere; a text that is missing is an error. */
function fill(text: string, replacements: readonly (readonly [string, string])[]): string {
  return replacements.reduce((filled, [from, to]) => {
    if (!filled.includes(from)) throw new Error(`the file in deploy/ has no "${from}"`)
    return filled.replaceAll(from, to)
  }, text)
}

interface Place {
  folder: string
  certificate: string
  key: string
  port: number
  plainPort: number
}

async function newPlace(name: string): Promise<Place> {
  const folder = newFolder(name)
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const names = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST},IP:${LOOPBACK}`]
  const made = Bun.spawnSync(
    ['openssl', ...request, '-days', '2', ...names, '-out', certificate, '-keyout', key],
    { stdout: 'ignore', stderr: 'pipe' },
  )
  if (made.exitCode !== 0) throw new Error(`openssl made no certificate: ${made.stderr}`)
  return { folder, certificate, key, port: await freePort(), plainPort: await freePort() }
}

async function startIn(place: Place, name: string, cmd: string[], readyWhen: string): Promise<RunningProxy> {
  const { folder, certificate, port, plainPort } = place
  const child = await startChild({ name, cmd, folder, readyWhen, endingSignal: 'SIGKILL' })
  // Caddy says nothing when it listens.
  await until(WAIT_MS, `a connection to ${name}`, () => isListening(port))
  const logs = ['access.log', 'error.log'].map((file) => join(folder, file))
  return {
    url: `https://${HOST}:${port}`,
    ca: readFileSync(certificate, 'utf8'),
    plainUrl: `http://${HOST}:${plainPort}`,
    logs: () => logs.map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')).join(''),
    async stop() {
      await child.end('SIGTERM')
      removeFolder(folder)
    },
  }
}

async function isListening(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: LOOPBACK, port, socket: { data() {} } })
    socket.end()
    return true
  } catch {
    return false
  }
}

export const startNginx: StartProxy = async (program, upstreams) => {
  const place = await newPlace('nginx')
  const { folder, certificate, key, port, plainPort } = place
  const [first, ...others] = upstreams.map((address) => `server ${address};`)
  const site = fill(readFileSync(join(DEPLOY, 'nginx.conf'), 'utf8'), [
    ['    listen [::]:80;\n', ''],
    ['    listen [::]:443 ssl http2;\n', ''],
    ['listen 80;', `listen ${LOOPBACK}:${plainPort};`],
    ['listen 443 ssl', `listen ${LOOPBACK}:${port} ssl`],
    ['# server 127.0.0.1:4401;', others.join(' ')],
    ['server 127.0.0.1:4400;', first!],
    ['/etc/letsencrypt/live/presence.example.org/fullchain.pem', certificate],
    ['/etc/letsencrypt/live/presence.example.org/privkey.pem', key],
    ['presence.example.org', HOST],
    ['/var/log/nginx/greendot.log', join(folder, 'access.log')],
    ['/var/log/nginx/greendot-error.log', join(folder, 'error.log')],
  ])
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const main = `daemon off;
    # One process, which ends with its one id.
    master_process off;
    pid ${join(folder, 'nginx.pid')};
    error_log stderr notice;
    events { worker_connections 512; }
    http {
      ${temporary.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n')}
      include ${join(folder, 'greendot.conf')};
    }`
  writeFileSync(join(folder, 'greendot.conf'), site)
  writeFileSync(join(folder, 'nginx.conf'), main)
  const cmd = [program, '-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')]
  return startIn(place, 'nginx', cmd, 'event method')
}

export const startCaddy: StartProxy = async (program, upstreams) => {
  const place = await newPlace('caddy')
  const { folder, certificate, key, port, plainPort } = place
  const site = fill(readFileSync(join(DEPLOY, 'Caddyfile'), 'utf8'), [
    ['\tadmin off\n', `\tadmin off\n\thttps_port ${port}\n\thttp_port ${plainPort}\n\tskip_install_trust\n`],
    ['\tlog {\n', `\tlog {\n\t\toutput file ${join(folder, 'error.log')}\n`],
    ['{$SITE_ADDRESS::8080} {\n', `${HOST} {\n\tbind ${LOOPBACK}\n\ttls ${certificate} ${key}\n`],
    ['{$GATEWAYS:gateway-1:4400 gateway-2:4400}', upstreams.join(' ')],
  ])
  writeFileSync(join(folder, 'Caddyfile'), site)
  const storage = ['env', `XDG_DATA_HOME=${folder}`, `XDG_CONFIG_HOME=${folder}`, `HOME=${folder}`]
  const config = ['--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
  return startIn(place, 'caddy', [...storage, program, 'run', ...config], 'using provided configuration')
}
