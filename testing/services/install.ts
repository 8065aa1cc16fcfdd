// Installs the packages that services need, as root on a machine with apt: one at a time, each once per process,
// with a line on stderr before and after. A failure is returned as the reason for the titles of skipped tests.
// `npm test` installs everything before the first test starts; its test processes install nothing
// (NO_INSTALLING).

/** Set for processes that must not install. */
export const NO_INSTALLING = 'NO_INSTALLING_FOR_TESTS'

const STEP_MS_MAX = 180_000
const LOCK_MS_MAX = 120_000
const LOCK_RETRY_MS = 500
// An unreachable mirror must not delay the tests for long. Apt itself waits only for the lock of dpkg; the code
// below waits for the lock on the package lists.
const PATIENCE = [
  '-q',
  '-o',
  `DPkg::Lock::Timeout=${LOCK_MS_MAX / 1000}`,
  '-o',
  'Acquire::http::Timeout=20',
  '-o',
  'Acquire::Retries=1',
]

const asked = new Map<string, Promise<string | null>>()
let last: Promise<unknown> = Promise.resolve()

/** Null when the package is installed, otherwise the reason. */
export function installPackage(name: string): Promise<string | null> {
  const known = asked.get(name)
  if (known !== undefined) return known
  const result = last.then(() => installWithApt(name))
  last = result
  asked.set(name, result)
  return result
}

async function installWithApt(name: string): Promise<string | null> {
  const apt = Bun.which('apt-get')
  if (apt === null) return `there is no apt-get to install ${name} with`
  if (process.getuid?.() !== 0) return `only root may install it: apt-get install ${name}`
  if (process.env[NO_INSTALLING]) return `apt-get could not install ${name} before the tests`
  console.error(`${name} is missing: installing it with apt-get, once, which takes a minute or two ...`)
  const startedAt = performance.now()
  const install = [apt, ...PATIENCE, 'install', '-y', '--no-install-recommends', name]
  // Only a machine whose package lists are missing or old needs new ones.
  if ((await run(install)) !== null) {
    const updating = await run([apt, ...PATIENCE, 'update'])
    if (updating !== null) return `apt-get update failed: ${updating}`
    const installing = await run(install)
    if (installing !== null) return `apt-get install ${name} failed: ${installing}`
  }
  console.error(`${name} is installed, in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  return null
}

/** Null on success, otherwise the last line of its output. */
async function run(cmd: string[]): Promise<string | null> {
  const giveUpAt = performance.now() + LOCK_MS_MAX
  while (true) {
    const child = Bun.spawn({
      cmd,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: STEP_MS_MAX,
    })
    const [said] = await Promise.all([new Response(child.stderr).text(), child.exited])
    if (child.exitCode === 0) return null
    if (child.signalCode !== null) return `it was ended after ${STEP_MS_MAX / 1000} s`
    const isLocked = /could not get lock|unable to lock/i.test(said)
    if (!isLocked || performance.now() > giveUpAt) {
      return said.trim().split('\n').at(-1) || `exit code ${child.exitCode}`
    }
    await Bun.sleep(LOCK_RETRY_MS)
  }
}
