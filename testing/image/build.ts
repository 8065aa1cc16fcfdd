// Builds the image without a container engine: each stage is a folder, COPY copies what .dockerignore admits, and
// RUN lines about npm and Bun run as they are written. Base images and lines about the system are left out; the
// packages of npm come from its registry, and an unreachable registry is returned as the reason.
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, isAbsolute, join, posix } from 'node:path'
import { readContext } from './context.ts'
import { parseDockerfile, type Stage } from './dockerfile.ts'

const OF_THE_SYSTEM = /^(apt-get|install|useradd|groupadd|adduser|addgroup)\b/
const OF_THE_BUILD = /\b(npm|bun)\b/
const UNREACHABLE =
  /\b(ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ENETUNREACH|ETIMEDOUT|ENOTCACHED|ERR_SOCKET_TIMEOUT)\b/

export type Built =
  | { state: 'built'; image: Image }
  | { state: 'missing'; why: string }
  | { state: 'failed'; why: string }

export interface Image {
  /** The instructions of the last stage. */
  stage: Stage
  /** Its file system, without the base image. */
  root: string
}

/** `folder` is empty and outside of the repository. */
export async function buildImage(repository: string, dockerfile: string, folder: string): Promise<Built> {
  const context = readContext(repository)
  const stages = parseDockerfile(readFileSync(join(repository, dockerfile), 'utf8'))
  const rootOf = (index: number) => join(folder, String(index))

  for (const [index, { instructions }] of stages.entries()) {
    const root = rootOf(index)
    let workdir = '/'
    mkdirSync(root)
    for (const { name, flags, text } of instructions) {
      if (name === 'WORKDIR') {
        workdir = posix.resolve(workdir, text)
        mkdirSync(join(root, workdir), { recursive: true })
      } else if (name === 'COPY') {
        const sources = text.split(/\s+/)
        const target = sources.pop()!
        for (const source of sources) {
          const place = placeOf(source, target, sources.length)
          const path = join(root, isAbsolute(place) ? place : join(workdir, place))
          if (flags.from === undefined) context.copy(source, path)
          else {
            mkdirSync(dirname(path), { recursive: true })
            cpSync(join(rootOf(indexOf(stages, flags.from)), source), path, { recursive: true })
          }
        }
      } else if (name === 'RUN' && !OF_THE_SYSTEM.test(text)) {
        if (!OF_THE_BUILD.test(text)) throw new Error(`a RUN line about neither npm nor the system: ${text}`)
        const why = await run(text, join(root, workdir))
        if (why === null) continue
        const line = why.split('\n').find((one) => UNREACHABLE.test(one))
        return line === undefined
          ? { state: 'failed', why: `${text}: ${why}` }
          : { state: 'missing', why: `npm cannot fetch the packages of the image: ${line.trim()}` }
      }
    }
  }
  return { state: 'built', image: { stage: stages.at(-1)!, root: rootOf(stages.length - 1) } }
}

/** A target that ends in a slash, or has several sources, is a folder. */
function placeOf(source: string, target: string, sources: number): string {
  return target.endsWith('/') || sources > 1 ? posix.join(target, basename(source)) : target
}

function indexOf(stages: readonly Stage[], name: string): number {
  const index = stages.findIndex((stage) => stage.name === name)
  if (index === -1) throw new Error(`there is no stage ${name} to copy from`)
  return index
}

/** Null on success, otherwise what it printed last. */
async function run(line: string, cwd: string): Promise<string | null> {
  const child = Bun.spawn(['sh', '-e', '-c', line], {
    cwd,
    env: { ...outerEnv(), npm_config_prefer_offline: 'true', npm_config_fetch_retries: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = await Promise.all([child.stdout, child.stderr].map((one) => new Response(one).text()))
  return (await child.exited) === 0 ? null : said.join('').trim().slice(-2_000)
}

/** `npm test` describes its own run in variables; the npm of the build must not take them for its own. */
function outerEnv(): Record<string, string> {
  const own = Object.entries(process.env).filter(
    ([name]) =>
      ['PATH', 'HOME', 'LANG', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].includes(name.toUpperCase()) ||
      /^npm_config_(registry|userconfig|globalconfig|cache|cafile|https?_?proxy|noproxy)$/i.test(name),
  )
  const path = (process.env.PATH ?? '').split(':').filter((part) => !part.includes('node_modules'))
  return { ...Object.fromEntries(own), PATH: path.join(':'), TMPDIR: tmpdir() } as Record<string, string>
}
