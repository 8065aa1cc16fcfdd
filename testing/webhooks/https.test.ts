// Webhooks over https, with an authority that is made here: the certificate must be of a trusted authority and of the name
// in the URL, though the request goes to an address.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NAME = 'hooks.example.test'
const SENDER = join(import.meta.dir, 'https-sender.ts')

let folder: string
let server: Bun.Server<undefined>
let requests = 0

async function openssl(...args: string[]): Promise<void> {
  const child = Bun.spawn(['openssl', ...args], { cwd: folder, stdout: 'ignore', stderr: 'pipe' })
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text())
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'greendot-https-'))
  const authority = ['-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=authority']
  await openssl('req', '-x509', ...NEW_KEY, ...authority)
  await openssl('req', ...NEW_KEY, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', `/CN=${NAME}`)
  await Bun.write(join(folder, 'names'), `subjectAltName=DNS:${NAME}`)
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names']
  await openssl('x509', '-req', '-in', 'request.pem', '-out', 'cert.pem', ...signed)
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert: Bun.file(join(folder, 'cert.pem')), key: Bun.file(join(folder, 'key.pem')) },
    fetch() {
      requests++
      return new Response(null, { status: 204 })
    },
  })
})
afterAll(async () => {
  server.stop(true)
  await rm(folder, { recursive: true })
})

async function send(host: string, isTrusted: boolean): Promise<object> {
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env
  const env = { ...inherited, ...(isTrusted && { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') }) }
  const child = Bun.spawn([process.execPath, SENDER, `https://${host}:${server.port}/`], { env })
  return JSON.parse(await new Response(child.stdout).text())
}

describe('a webhook over https', () => {
  test('[X5] [C6] goes to an endpoint whose certificate is of its name and of a trusted authority', async () => {
    expect(await send(NAME, true)).toEqual({ ok: true, status: 204 })
    expect(requests).toBe(1)
  })

  test.each([
    ['another name', 'other.example.test', true],
    ['an unknown authority', NAME, false],
  ])('[X5] [C6] is not sent to a certificate of %s', async (_, host, isTrusted) => {
    const before = requests
    expect(await send(host, isTrusted)).toMatchObject({
      ok: false,
      status: null,
      because: expect.stringContaining('the connection failed'),
    })
    expect(requests).toBe(before)
  })
})
