// What is left of somebody in the database file itself, whatever its rows say: after the erasure no byte
// of it holds their id or their words, neither while the server runs nor once it has stopped.
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { erase, liveFully } from './erased-person.ts'
import { call, useScene } from './scene.ts'

const scene = useScene()
const ANNA = 'anna-q7x'

/** The files of the database that hold the text anywhere. */
const filesThatHold = (folder: string, text: string) =>
  readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(text))

test('[X6] no byte of the database file holds an erased user, before or after a clean stop', async () => {
  const server = await scene.process()
  const { text, socket } = await liveFully(scene, server.url, ANNA)
  for (const held of [ANNA, text]) expect(filesThatHold(server.folder, held)).not.toEqual([])
  expect((await erase(server.url, ANNA)).status).toBe(204)
  await socket.closed
  // Written after all that, so the log was wiped before.
  await call(server.url, 'dev', 'PUT', '/api/v1/users/bob/contacts', { user_ids: ['zoe', 'kept-q7x'] })
  for (const held of [ANNA, text]) expect(filesThatHold(server.folder, held)).toEqual([])
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
  expect(readdirSync(server.folder)).toEqual(['greendot.db'])
  for (const held of [ANNA, text]) expect(filesThatHold(server.folder, held)).toEqual([])
  expect(filesThatHold(server.folder, 'kept-q7x')).toEqual(['greendot.db'])
})
