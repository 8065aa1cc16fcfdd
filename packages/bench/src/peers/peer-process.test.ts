import { afterEach, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { createScope, type Scope } from '../platform/scope.ts'
import { startProcess, untilFound } from './peer-process.ts'
import { descendants, isRunning } from './process-tree.ts'

let scope: Scope = createScope()
afterEach(async () => {
  await scope.close()
  scope = createScope()
})

function start(script: string) {
  return startProcess({ name: 'it', command: ['sh', '-c', script], core: null, cwd: tmpdir() }, scope)
}

test('[X7] a server that ends before it is ready is an error with its last output', async () => {
  const server = start('echo the port is taken >&2; exit 3')
  await expect(untilFound(server, () => null, 5_000)).rejects.toThrow(
    /^it ended with code 3 before it was ready; it printed: the port is taken$/,
  )
})

test('[X7] a server that is not ready in time is stopped', async () => {
  const server = start('sleep 60')
  await expect(untilFound(server, () => null, 100)).rejects.toThrow('it was not ready after 0.1 s')
  expect(await server.exited).not.toBe(0)
})

test('[X7] closing the scope ends a server and the children of its children', async () => {
  const server = start('sh -c "sleep 60 & echo ready; wait" & wait')
  await untilFound(server, () => /ready/.exec(server.lastOutput()), 5_000)
  const family = [server.pid, ...descendants(server.pid)]
  expect(family.length).toBe(3)
  expect(family.every(isRunning)).toBe(true)
  await scope.close()
  expect(family.filter(isRunning)).toEqual([])
  await server.stop()
})
