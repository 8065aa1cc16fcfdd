// Runs the built image as a container engine does: with its user, environment, command and working directory, on a
// root that is read-only, with only the declared volume writable. Root does it with a mount namespace and chroot,
// which end with the process. Without root, or where mounting is refused, the program runs in its folder, and
// `unchecked` says what that leaves out.
import { chmodSync, chownSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tellReaper } from '../services/reaper.ts'
import type { Image } from './build.ts'
import { commandOf, lastOf, pairsOf } from './dockerfile.ts'

/** As in the base image. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const DEVICES = ['null', 'zero', 'random', 'urandom']
/** Where the base image has the shell of the health check. */
const SHELL = '/usr/bin/bash'

const ENTER = `set -e
root=$1 volume=$2 user=$3 workdir=$4 data=$5; shift 5
mount --bind "$root" "$root"
mount --bind "$data" "$root$volume"
mount --rbind /proc "$root/proc"
for device in ${DEVICES.join(' ')}; do mount --bind "/dev/$device" "$root/dev/$device"; done
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs chroot --userspec="$user" --groups= "$root" \\
  ${SHELL} -c 'cd "$1" && shift && exec "$@"' sh "$workdir" "$@"`

export type Isolation = { kind: 'namespace' } | { kind: 'none'; unchecked: string }

export interface Ended {
  exitCode: number
  out: string
  err: string
}

export interface Container {
  pid: number
  /** The folder behind the declared volume. */
  data: string
  /** The part of stdout until the program said that it is ready. */
  ready: Promise<string>
  /** Like `docker exec`: in the same file system, as the same user. */
  exec(command: readonly string[], as?: 'its user' | 'root'): Promise<Ended>
  stop(signal: string): Promise<Ended>
}

/** Tries a mount in a namespace of its own. */
export function isolationHere(): Isolation {
  const isRoot = process.getuid?.() === 0
  const tools = ['unshare', 'nsenter', 'setpriv', 'chroot', 'mount', 'ldd', 'bash']
  const absent = tools.find((name) => Bun.which(name) === null)
  const leftOut = isRoot ? 'a read-only root' : 'its user and a read-only root'
  if (!isRoot) return { kind: 'none', unchecked: `${leftOut}, which need root` }
  if (absent !== undefined) return { kind: 'none', unchecked: `${leftOut}, because there is no ${absent}` }
  const tried = Bun.spawnSync(['unshare', '--mount', 'mount', '--bind', '/tmp', '/tmp'], { stderr: 'pipe' })
  if (tried.exitCode === 0) return { kind: 'namespace' }
  return { kind: 'none', unchecked: `${leftOut}: ${tried.stderr.toString().trim()}` }
}

export function startContainer(
  image: Image,
  folder: string,
  isolation: Isolation,
  settings: Record<string, string>,
): Container {
  const { stage, root } = image
  const user = lastOf(stage, 'USER')
  const [uid = 0, gid = 0] = user.split(':').map(Number)
  const workdir = lastOf(stage, 'WORKDIR')
  const volume = lastOf(stage, 'VOLUME')
  const data = join(folder, 'volume')
  const isRoot = process.getuid?.() === 0
  mkdirSync(data, { mode: 0o750 })
  chmodSync(folder, 0o755)
  if (isRoot) chownSync(data, uid, gid)
  const env = { PATH, ...pairsOf(stage, 'ENV'), ...settings }
  const [program = '', ...args] = [
    ...commandOf(lastOf(stage, 'ENTRYPOINT')),
    ...commandOf(lastOf(stage, 'CMD')),
  ]
  const inFolder = { ...env, PATH: `${join(root, dirname(program))}:${process.env.PATH}` }

  function start() {
    const stdio = { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' } as const
    if (isolation.kind === 'none') {
      const cmd = [join(root, program), ...args]
      return Bun.spawn(cmd, { cwd: data, env: inFolder, ...stdio, ...(isRoot ? { uid, gid } : {}) })
    }
    addBase(root, join(root, program))
    mkdirSync(join(root, volume), { recursive: true })
    const given = [root, volume, user, workdir, data, program, ...args]
    return Bun.spawn(['unshare', '--mount', 'sh', '-c', ENTER, 'sh', ...given], { env, ...stdio })
  }

  const child = start()
  tellReaper({ about: 'started', pid: child.pid, signal: 'SIGKILL' })
  const ready = Promise.withResolvers<string>()
  ready.promise.catch(() => {})
  const out = readAll(child.stdout, (said) => said.includes('\n') && ready.resolve(said))
  const err = readAll(child.stderr)
  const ended = Promise.all([child.exited, out, err]).then(([exitCode, said, complained]) => {
    tellReaper({ about: 'ended', pid: child.pid })
    ready.reject(new Error(`it ended with ${exitCode} before it was ready: ${said}${complained}`))
    return { exitCode, out: said, err: complained }
  })

  return {
    pid: child.pid,
    data,
    ready: ready.promise,
    async exec(command, as = 'its user') {
      const ids = as === 'root' ? [] : [`--setuid=${uid}`, `--setgid=${gid}`]
      const cmd =
        isolation.kind === 'none'
          ? [...command]
          : ['nsenter', `--target=${child.pid}`, '--mount', '--root', '--wd', ...ids, '--', ...command]
      const spawned = Bun.spawn(cmd, {
        cwd: data,
        env: isolation.kind === 'none' ? inFolder : env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const [exitCode, said, complained] = await Promise.all([
        spawned.exited,
        readAll(spawned.stdout),
        readAll(spawned.stderr),
      ])
      return { exitCode, out: said, err: complained }
    },
    stop(signal) {
      child.kill(signal as NodeJS.Signals)
      return ended
    },
  }
}

/** Puts the shell, the libraries and the mount points of the base image into the root. */
function addBase(root: string, program: string): void {
  const shell = Bun.which('bash')!
  mkdirSync(join(root, dirname(SHELL)), { recursive: true })
  cpSync(shell, join(root, SHELL), { dereference: true })
  const needed = [program, shell].flatMap((path) =>
    Array.from(
      Bun.spawnSync(['ldd', path])
        .stdout.toString()
        .matchAll(/(\/\S+) \(0x/g),
      ([, lib]) => lib!,
    ),
  )
  for (const path of needed) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    cpSync(path, join(root, path), { dereference: true })
  }
  for (const name of ['proc', 'dev', 'tmp']) mkdirSync(join(root, name), { recursive: true })
  chmodSync(join(root, 'tmp'), 0o1777)
  for (const device of DEVICES) writeFileSync(join(root, 'dev', device), '')
}

async function readAll(stream: ReadableStream<Uint8Array>, hear = (_: string): unknown => null) {
  const decoder = new TextDecoder()
  let said = ''
  for await (const chunk of stream) {
    said += decoder.decode(chunk, { stream: true })
    hear(said)
  }
  return said
}
