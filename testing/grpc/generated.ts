// The client code that buf generates from the published .proto, made once for its text and kept in the cache folder.
// Nothing generated is part of the tree.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { DescService } from '@bufbuild/protobuf'

const ROOT = resolve(import.meta.dir, '../..')
export const PROTO_FOLDER = join(ROOT, 'packages/protocol/proto')
const PROTO = 'greendot/v1/presence.proto'
const CACHE = join(ROOT, 'node_modules/.cache')
const bin = (name: string) => join(ROOT, 'node_modules/.bin', name)

/** Runs buf in the folder of the .proto. */
export async function buf(...args: string[]): Promise<{ code: number; said: string; out: Uint8Array }> {
  const child = Bun.spawn([bin('buf'), ...args], { cwd: PROTO_FOLDER, stdout: 'pipe', stderr: 'pipe' })
  const [code, out, said] = await Promise.all([
    child.exited,
    new Response(child.stdout).bytes(),
    new Response(child.stderr).text(),
  ])
  return { code, said: said + new TextDecoder().decode(out), out }
}

export async function generatedService(): Promise<DescService> {
  const hash = Bun.hash(readFileSync(join(PROTO_FOLDER, PROTO))).toString(36)
  const folder = join(CACHE, `grpc-client-${hash}`)
  if (!existsSync(folder)) await generate(folder)
  const module = await import(join(folder, PROTO.replace('.proto', '_pb.ts')))
  return module.PresenceService as DescService
}

async function generate(folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const scratch = mkdtempSync(join(CACHE, 'grpc-client-'))
  try {
    const template = join(scratch, 'buf.gen.yaml')
    const plugin = { local: bin('protoc-gen-es'), out: scratch, opt: ['target=ts'] }
    writeFileSync(template, JSON.stringify({ version: 'v2', plugins: [plugin] }))
    const { code, said } = await buf('generate', '--template', template)
    if (code !== 0) throw new Error(said)
    // In one step, so that no other process finds half of it.
    if (!existsSync(folder)) renameSync(scratch, folder)
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
