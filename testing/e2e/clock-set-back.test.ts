// A server without a shared store whose clock is set back by an hour: who leaves is offline as soon as ever.
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { call } from '../http/calls.ts'
import { isOffline, isOnline, useScene, watch } from './scene.ts'

const scene = useScene()
const PROGRAM = resolve(import.meta.dir, 'clock-stepped-server.ts')
const SETTINGS = ['--heartbeat-ttl-ms=6000', '--heartbeat-interval-ms=500', '--offline-delay-ms=500']

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let said = ''
  for await (const chunk of stream) {
    said += new TextDecoder().decode(chunk)
    if (said.includes('\n')) break
  }
  return said.trim()
}

async function steppedServer() {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-test-'))
  const flags = ['--dev', '--port=0', '--log-level=silent', '--drain-ms=50', '--poll-burst=1000']
  const child = Bun.spawn([process.execPath, PROGRAM, 'serve', ...flags, ...SETTINGS], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  scene.onEnd(async () => {
    child.kill('SIGKILL')
    await child.exited
    rmSync(folder, { recursive: true, force: true })
  })
  const url = (await firstLine(child.stdout)).replace('greendot ready ', '')
  return {
    url,
    async setClockBack() {
      child.kill('SIGUSR2')
      expect(await firstLine(child.stderr)).toBe('the clock was set back')
    },
  }
}

test('[C7] [D1] [D2] disconnections are seen, by silence and by a close, and users come back', async () => {
  const { url, setClockBack } = await steppedServer()
  const beatEveryMs = 500
  const eve = await scene.person(url, 'eve', { beatEveryMs })
  await watch(eve, ['silent', 'closed', 'staying'])
  const silent = await scene.person(url, 'silent', { beatEveryMs })
  const closed = await scene.person(url, 'closed', { beatEveryMs })
  await scene.person(url, 'staying', { beatEveryMs })
  for (const id of ['silent', 'closed', 'staying']) await eve.sees(id, isOnline)
  await setClockBack()
  const since = eve.heard.length
  silent.fallSilent()
  closed.close()
  await eve.sees('closed', isOffline, { since })
  await eve.sees('silent', isOffline, { since })
  const later = eve.heard.length
  await scene.person(url, 'closed', { beatEveryMs })
  await eve.sees('closed', isOnline, { since: later })
  expect(eve.sightings('staying', since)).toEqual([])
  const { body } = await call<{ status: string }>(url, 'GET', '/api/v1/presence/staying', { token: 'dev' })
  expect(body.status).toBe('online')
})
