#!/usr/bin/env node
// The `greendot` command of the npm package, for Node: starts the program with the Bun of the package `bun`. Signals
// go to the program, and its exit code is the exit code here.
import { spawn } from 'node:child_process'
import { closeSync, openSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../greendot.js', import.meta.url))
/** The program must not outlive this process, for example after kill -9. */
const FLAGS = ['--no-orphans']
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP']
const FAILED = 1

const bun = findBun()
if (bun === null) {
  console.error(
    `greendot: the runtime is missing: no Bun for ${process.platform} ${process.arch} is installed beside this package. ` +
      'Install again with optional dependencies: npm install --include=optional',
  )
  process.exit(FAILED)
}

const child = spawn(bun, [...FLAGS, PROGRAM, ...process.argv.slice(2)], { stdio: 'inherit' })
child.on('error', ({ message }) => {
  console.error(`greendot: ${bun} cannot be started: ${message}`)
  process.exit(FAILED)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
for (const signal of SIGNALS) {
  process.on(signal, () => {
    // A terminal sends Ctrl-C to both processes, and a second signal would end the program at once.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  })
}

/**
 * The install script of the package `bun` moves the executable of the platform's package into its own folder. Where
 * install scripts do not run, a text is there instead, and the executable is still in the platform's package.
 */
function findBun() {
  const home = folderOf('bun', import.meta.url)
  if (home === null) return null
  const places = [join(home, 'bin/bun.exe')]
  for (const name of platformPackages()) {
    const folder = folderOf(`@oven/${name}`, join(home, 'package.json'))
    if (folder !== null) places.push(join(folder, 'bin/bun'), join(folder, 'bin/bun.exe'))
  }
  return places.find(isExecutable) ?? null
}

/** The package for this C library comes first; npm installs only that one. */
function platformPackages() {
  const os = process.platform === 'win32' ? 'windows' : process.platform
  const cpu = process.arch === 'arm64' ? 'aarch64' : process.arch
  const name = `bun-${os}-${cpu}`
  return os === 'linux' ? [name, `${name}-musl`] : [name]
}

function folderOf(name, from) {
  try {
    return dirname(createRequire(from).resolve(`${name}/package.json`))
  } catch {
    return null
  }
}

/** Executables of all platforms contain zero bytes near their start; a text contains none. */
function isExecutable(path) {
  const start = Buffer.alloc(256)
  try {
    const file = openSync(path)
    readSync(file, start)
    closeSync(file)
    return start.includes(0) && start[0] !== 0
  } catch {
    return false
  }
}
