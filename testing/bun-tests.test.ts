// The counting behind `npm test`, on real runs of small test files: no failure may look like success.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findTestFiles, runTestFiles, type Tally, tally } from './bun-tests.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'greendot-runner-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(files: Record<string, string>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), `import { afterAll, describe, expect, test } from 'bun:test'\n${text}\n`)
  }
}

function run(files: Record<string, string>): Promise<Tally> {
  write(files)
  return runTestFiles({ bun: process.execPath, root, files: Object.keys(files), lanes: 2, output: 'ignore' })
}

const PASSING = `test('fine', () => {})`

describe('counting tests', () => {
  test('passed, failed and skipped tests are told apart', async () => {
    const counted = await run({
      'a.test.ts': `
        describe('group "one" > two', () => {
          test('passes', () => expect(1).toBe(1))
          test('fails', () => expect(1).toBe(2))
          test.skip('needs <redis> & more: GREENDOT_TEST_REDIS is not set', () => {})
        })
        test.todo('not yet')`,
      'b.test.ts': PASSING,
    })
    expect(counted).toEqual({
      passed: 2,
      failed: 1,
      skipped: [
        'a.test.ts: group "one" > two > needs <redis> & more: GREENDOT_TEST_REDIS is not set',
        'a.test.ts: not yet',
      ],
      problems: [],
    })
  })

  test('a file that does not load is a failure that names the file', async () => {
    const counted = await run({ 'a.test.ts': PASSING, 'b.test.ts': `throw new Error('no')` })
    expect(counted).toMatchObject({ passed: 1, failed: 1 })
    expect(counted.problems.join()).toContain('b.test.ts')
  })

  test('a file without tests is a failure, also when it is the only one', async () => {
    expect(await run({ 'a.test.ts': PASSING, 'b.test.ts': '' })).toMatchObject({ passed: 1, failed: 1 })
    expect(await run({ 'b.test.ts': '' })).toMatchObject({ passed: 0, failed: 1 })
  })

  test('errors outside of tests are failures', async () => {
    const between = await run({
      'a.test.ts': `${PASSING}\nPromise.reject(new Error('floating'))`,
      'b.test.ts': PASSING,
    })
    expect(between.failed).toBeGreaterThan(0)
    const hook = await run({ 'a.test.ts': `${PASSING}\nafterAll(() => { throw new Error('hook') })` })
    expect(hook.failed).toBeGreaterThan(0)
  })

  test.each(['process.exit(0)', `process.kill(process.pid, 'SIGKILL')`])(
    'a test that ends its process with %s is a failure, beside other files and alone',
    async (ending) => {
      const file = `test('ends', () => ${ending})`
      expect(await run({ 'a.test.ts': PASSING, 'b.test.ts': file })).toMatchObject({ passed: 1, failed: 1 })
      const alone = await run({ 'b.test.ts': file })
      expect(alone).toMatchObject({ passed: 0, failed: 1 })
      expect(alone.problems.join()).toMatch(/exit code 0|SIGKILL/)
    },
  )

  test('files run at the same time', async () => {
    const meet = (own: string, other: string) => `
      import { existsSync, writeFileSync } from 'node:fs'
      test('meets the other file', async () => {
        writeFileSync('${own}', '')
        while (!existsSync('${other}')) await Bun.sleep(5)
      })`
    const files = { 'a.test.ts': meet('a-runs', 'b-runs'), 'b.test.ts': meet('b-runs', 'a-runs') }
    expect(await run(files)).toMatchObject({ passed: 2, failed: 0 })
  })

  test('a bad exit after good tests is a failure', () => {
    const report = `<testsuites tests="1" failures="0" skipped="0"><testsuite name="a" file="a"></testsuite>`
    expect(tally(report, ['a'], 'exit code 0')).toMatchObject({ passed: 1, failed: 0 })
    expect(tally(report, ['a'], 'exit code 3')).toMatchObject({ passed: 1, failed: 1 })
    expect(tally(report, ['a'], 'signal SIGSEGV')).toMatchObject({ passed: 1, failed: 1 })
  })

  test('test files are found below the folders, without dependencies, and filtered by path', () => {
    write({
      'packages/a/src/store.test.ts': '',
      'packages/a/src/view.test.tsx': '',
      'packages/a/src/store.ts': '',
      'packages/a/node_modules/x/x.test.ts': '',
      'packages/a/dist/store.test.ts': '',
      'testing/tidy.test.ts': '',
      'elsewhere/z.test.ts': '',
    })
    const folders = ['packages', 'testing']
    const all = ['packages/a/src/store.test.ts', 'packages/a/src/view.test.tsx', 'testing/tidy.test.ts']
    expect(findTestFiles(root, folders, [])).toEqual(all)
    expect(findTestFiles(root, folders, ['store', 'tidy'])).toEqual([all[0]!, all[2]!])
    expect(findTestFiles(root, folders, ['nothing'])).toEqual([])
  })
})
