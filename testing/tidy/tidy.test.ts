// Keeps the tree tidy. The first half holds the rules against the repository; the second shows, on
// small trees that break them, that each rule can fail and says where.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { unusedExports } from './exports.ts'
import { deadFiles, importCycles, importDirection, SERVER_ROOTS } from './imports.ts'
import {
  ambientTimeAndChance,
  brokenLinks,
  fileSizes,
  focusedTests,
  folderSizes,
  headers,
  lockedAddresses,
  ruleCitations,
  unlockedPlatforms,
} from './texts.ts'
import { describeProblems, isTest, type Problem, readTree, type TreeFile } from './tree.ts'

const ROOT = resolve(import.meta.dir, '../..')
const tree = readTree(ROOT)
const SERVER = 'packages/server/src/'
const NONE = /^$/
/** Folders whose exports need an importer, and their entry points, which need none. */
const EXPORTING: [folder: string, entries: RegExp][] = [
  [SERVER, /^packages\/server\/src\/(cli\.ts|http\/pages\/bundle\.ts)/],
  ['packages/client/src/', /^packages\/client\/src\/(index|react|element|server|worker)\.ts$/],
  ['packages/client/testing/', NONE],
  ['packages/bench/src/', NONE],
  ['packages/bench/testing/', NONE],
  ['packages/dashboard/src/', NONE],
  ['packages/protocol/src/', /^packages\/protocol\/src\/index\.ts$/],
  ['testing/', NONE],
]

function expectNone(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new Error(`${problems.length} to mend\n${describeProblems(problems)}`)
}

describe('the tree', () => {
  test('imports go one way, and only adapters.ts chooses adapters', () => expectNone(importDirection(tree)))
  test('no imports go in a circle', () => expectNone(importCycles(tree)))
  test('no file is over 400 lines', () => expectNone(fileSizes(tree)))
  test('no folder has more than 20 sources', () => expectNone(folderSizes(tree)))
  test('every source file opens with a header', () => expectNone(headers(tree)))
  test('time and chance come from platform/ only', () => expectNone(ambientTimeAndChance(tree)))
  test('no test is focused', () => expectNone(focusedTests(tree)))
  test('links in documents lead somewhere', () =>
    expectNone(brokenLinks(tree, (path) => existsSync(join(ROOT, path)))))

  test('the lock file names no download host and has every platform package', () => {
    const path = 'package-lock.json'
    const lock = { path, text: readFileSync(join(ROOT, path), 'utf8') }
    expectNone([...lockedAddresses(lock), ...unlockedPlatforms(lock)])
  })

  test(`every file of the server is reached from ${SERVER_ROOTS.join(' or ')}`, () =>
    expectNone(deadFiles(tree, SERVER_ROOTS)))

  test.each(EXPORTING)('every export in %s has an importer', (folder, entries) =>
    expectNone(unusedExports(tree, folder, entries)),
  )

  test('every rule has a test and every cited rule exists', () => {
    const spec = tree.find(({ path }) => path === 'SPEC.md')
    // The examples below cite rules of specs that do not exist.
    const tests = tree.filter((file) => isTest(file) && !file.path.startsWith('testing/tidy'))
    expectNone(ruleCitations(spec!, tests))
  })
})

const file = (path: string, ...lines: string[]): TreeFile => ({ path, text: lines.join('\n') })
const server = (path: string, ...lines: string[]): TreeFile => file(`packages/server/src/${path}`, ...lines)
const places = (problems: readonly Problem[]): string[] => problems.map(({ path, line }) => `${path}:${line}`)

describe('the tidy rules', () => {
  test('the protocol imports nothing outside itself', () => {
    const path = 'packages/protocol/src/a.ts'
    const wrong = [
      "import { z } from 'zod'",
      "import type { S } from '../../server/src/a.ts'",
      "import fs from 'node:fs'",
    ]
    expect(places(importDirection([file(path, "import { b } from './b.ts'", ...wrong)]))).toEqual([
      `${path}:2`,
      `${path}:3`,
      `${path}:4`,
    ])
  })

  test('presence imports the protocol, itself, and types of ports and platform, and pure modules', () => {
    const fine = [
      "import { STATUSES } from '@greendot/protocol'",
      "import { chunksOf } from '../platform/chunks.ts'",
      "import { step } from './machine.ts'",
      "import type { PresenceStore } from '../store/port.ts'",
      'import type {',
      '  Clock,',
      "} from '../platform/clock.ts'",
    ]
    const wrong = [
      "import { systemClock } from '../platform/clock.ts'",
      "import { type Clock } from '../platform/clock.ts'",
      "import { x } from '../store/port.ts'",
      "import type { Gateway } from '../gateway/gateway.ts'",
      "import { z } from 'zod'",
      "export * from '../gateway/gateway.ts'",
      "const late = await import('../gateway/gateway.ts')",
    ]
    const tracker = server('presence/tracker.ts', ...fine, ...wrong)
    expect(importDirection([tracker]).map(({ line }) => line)).toEqual([8, 9, 10, 11, 12, 13, 14])
    expect(importDirection([server('presence/tracker.test.ts', ...wrong)])).toEqual([])
  })

  test('only adapters.ts and neighbours import what is behind a port', () => {
    const line = "import { createMemoryStore } from './store/memory.ts'"
    const outsider = server(
      'gateway/a.ts',
      line.replace('./', '../'),
      "import type { S } from '../store/port.ts'",
    )
    const neighbour = server('store/memory.ts', "import { createDeadlines } from './deadlines.ts'")
    const files = [
      server('store/port.ts'),
      neighbour,
      server('adapters.ts', line),
      outsider,
      server('cli.ts', line),
    ]
    expect(places(importDirection(files))).toEqual([
      'packages/server/src/gateway/a.ts:1',
      'packages/server/src/cli.ts:1',
    ])
  })

  test('what ships does not import tests, and the client imports only the protocol', () => {
    const shipped = server('gateway/a.ts', "import { x } from '../../../../testing/worlds/records.ts'")
    const fine = ["import type { Frame } from '@greendot/protocol'", "import { useState } from 'react'"]
    const client = file('packages/client/src/a.ts', ...fine, "import { z } from 'zod'", "import 'reactive'")
    expect(importDirection([shipped, client]).map(({ line }) => line)).toEqual([1, 3, 4])
    const forTests = file('packages/client/testing/a.ts', "import { x } from '../../../testing/a.ts'")
    expect(importDirection([forTests])).toEqual([])
  })

  test('no package imports the benchmark, and the benchmark may import adapters but no tests', () => {
    const outsider = server(
      'cli/a.ts',
      "import { x } from '../../../bench/src/a.ts'",
      "import { y } from '@greendot/bench'",
    )
    const bench = file(
      'packages/bench/src/micro/a.ts',
      "import { createMemoryStore } from '../../../server/src/store/memory.ts'",
      "import { z } from '../b.ts'",
      "import { t } from '../../../../testing/a.ts'",
    )
    expect(places(importDirection([server('store/port.ts'), outsider, bench]))).toEqual([
      'packages/server/src/cli/a.ts:1',
      'packages/server/src/cli/a.ts:2',
      'packages/bench/src/micro/a.ts:3',
    ])
  })

  test('rooms of the client import one way: towards roster and activity, and the server kit apart', () => {
    const client = (path: string, ...lines: string[]) => file(`packages/client/src/${path}`, ...lines)
    const files = [
      client(
        'roster/a.ts',
        "import type { P } from '../types.ts'",
        "import { h } from '../connection/hub.ts'",
      ),
      client('dot/a.ts', "import { h } from '../connection/hub.ts'", "import { t } from '../platform.ts'"),
      client('tabs/a.ts', "import type { D } from '../dot/a.ts'", "import { d } from '../dot/a.ts'"),
      client('server/a.ts', "import { connect } from '../index.ts'"),
      client('react.ts', "import { connect } from './index.ts'", "import { h } from './connection/hub.ts'"),
      client('connect.ts', "import { h } from './connection/hub.ts'"),
      client('attic/a.ts', "import type { P } from '../types.ts'"),
    ]
    expect(places(importDirection(files))).toEqual([
      'packages/client/src/roster/a.ts:2',
      'packages/client/src/dot/a.ts:2',
      'packages/client/src/tabs/a.ts:2',
      'packages/client/src/server/a.ts:1',
      'packages/client/src/react.ts:2',
      'packages/client/src/attic/a.ts:1',
    ])
  })

  test('a circle of imports is found once, with its way round', () => {
    const files = [
      file('packages/x/a.ts', "import { b } from './b.ts'"),
      file('packages/x/b.ts', "import { d } from './d.ts'", "import type { C } from './c.ts'"),
      file('packages/x/c.ts', "export { a } from './a.ts'"),
      file('packages/x/d.ts'),
    ]
    const [problem, ...others] = importCycles(files)
    expect(problem).toMatchObject({ path: 'packages/x/c.ts', line: 1 })
    expect(problem?.what).toContain('x/a.ts -> packages/x/b.ts -> packages/x/c.ts -> packages/x/a.ts')
    expect(others).toEqual([])
  })

  test('a file that no root reaches is dead; types, text and workers count as reached', () => {
    const files = [
      server('cli.ts', "import type { A } from './a.ts'", "import lua from './b.lua' with { type: 'text' }"),
      server('a.ts', "new Worker(new URL('./worker.ts', import.meta.url))"),
      file('packages/server/src/b.lua'),
      server('worker.ts'),
      server('dead.ts', "import { a } from './a.ts'"),
      server('dead.test.ts'),
    ]
    expect(places(deadFiles(files, SERVER_ROOTS))).toEqual(['packages/server/src/dead.ts:1'])
    expect(deadFiles(files.slice(1), SERVER_ROOTS)).toEqual([])
  })

  test('an export without an importer is found; types of its own functions and whole imports are left alone', () => {
    const files = [
      server('cli.ts', 'export const entry = 1', "import { used, type T as U } from './a.ts'"),
      server(
        'a.ts',
        'export const used = 1',
        'export function unused() {}',
        'export interface Parts {}',
        'export const forTest = (parts: Parts) => parts',
        'export type T = 1',
        'export type Dead = 2',
        'export const late = 1',
      ),
      server('b.ts', "const { late } = await import('./a.ts')", 'export async function* lost() {}'),
      server('c.ts', "import * as d from './d.ts'", "const e = () => import('./e.ts')"),
      server('d.ts', 'export const x = 1'),
      server('e.ts', 'export const y = 1'),
      server('a.test.ts', "import { forTest } from './a.ts'", 'export const inTest = 1'),
    ]
    expect(places(unusedExports(files, SERVER, /\/cli\.ts$/))).toEqual([
      'packages/server/src/a.ts:2',
      'packages/server/src/a.ts:6',
      'packages/server/src/b.ts:2',
    ])
  })

  test('line 401 is one too many', () => {
    const lines = (count: number): string => 'x\n'.repeat(count)
    const files = [file('a.ts', lines(400)), file('b.ts', lines(401)), file('c.md', lines(900))]
    expect(places(fileSizes(files))).toEqual(['b.ts:401'])
    const generated = `// Generated from /openapi.json by generate-api.ts; do not edit.\n${lines(401)}`
    expect(fileSizes([file('d.ts', generated)])).toEqual([])
  })

  test('source 21 of a folder is one too many, and tests and folders in it do not count', () => {
    const sources = (count: number) => Array.from({ length: count }, (_, n) => file(`room/source-${n}.ts`))
    const beside = [file('room/a.test.ts'), file('room/inner/b.ts'), file('room/c.md')]
    expect(folderSizes([...sources(20), ...beside])).toEqual([])
    expect(places(folderSizes([...sources(21), ...beside]))).toEqual(['room:1'])
  })

  test('a source file without a header is found', () => {
    const good = [
      file('a.ts', '// Why.'),
      file('b.ts', '#!/usr/bin/env bun', '// Why.'),
      file('c.ts', '/** Why. */'),
    ]
    expect(places(headers([...good, file('d.ts', 'export {}'), file('e.test.ts', 'x')]))).toEqual(['d.ts:1'])
  })

  test('ambient time and chance are found in code, not in comments, and allowed in platform/', () => {
    const wrong = [
      'Date.now()',
      'new Date()',
      'Math.random()',
      'performance.now()',
      'setTimeout(f, 1)',
      'globalThis.setInterval(f, 1)',
      'setImmediate(f)',
      'crypto.randomUUID()',
      'Bun.sleep(1)',
    ]
    for (const expression of wrong) {
      const lines = [`// ${expression}`, `/* ${expression} */`, `export const x = (f) => ${expression}`]
      expect(ambientTimeAndChance([server('gateway/a.ts', ...lines)])).toMatchObject([{ line: 3 }])
      expect(ambientTimeAndChance([file('packages/protocol/src/a.ts', ...lines)])).toHaveLength(1)
      expect(ambientTimeAndChance([server('platform/a.ts', ...lines)])).toEqual([])
      expect(ambientTimeAndChance([server('gateway/a.test.ts', ...lines)])).toEqual([])
    }
    const fine = ['new Date(at).toISOString()', 'socket.setTimeout(1)', 'type T = typeof Date.now']
    expect(ambientTimeAndChance([server('gateway/a.ts', ...fine)])).toEqual([])
  })

  test('a focused test is found', () => {
    const focused = ['describe', 'only'].join('.')
    expect(places(focusedTests([file('a.test.ts', '', `${focused}('x', () => {})`)]))).toEqual([
      'a.test.ts:2',
    ])
    expect(focusedTests([file('a.test.ts', `// ${focused}`, 'list.only()')])).toEqual([])
  })

  test('a link to nowhere is found; addresses, anchors and code are left alone', () => {
    const lines = [
      '[here](b.md#part) [there](../x.md) [root](/README.md) ![picture](<b.md>)',
      '[web](https://example.org/x) [mail](mailto:a@b.c) [anchor](#part) `[code](nowhere.md)`',
      '```',
      '[code](nowhere.md)',
      '```',
      '[lost](lost.md "title")',
      '<img src="lost.png">',
      '[ref]: lost.md',
    ]
    const known = new Set(['docs/b.md', 'x.md', 'README.md'])
    const problems = brokenLinks([file('docs/a.md', ...lines)], (path) => known.has(path))
    expect(places(problems)).toEqual(['docs/a.md:6', 'docs/a.md:7', 'docs/a.md:8'])
  })

  test('a download address in the lock file is found', () => {
    const lock = file(
      'package-lock.json',
      '"resolved": "packages/server",',
      '"resolved": "https://example.org/x.tgz",',
    )
    expect(places(lockedAddresses(lock))).toEqual(['package-lock.json:2'])
  })

  test('a platform package that the lock file lacks is found', () => {
    const packages = {
      'node_modules/tool': { optionalDependencies: { '@tool/linux': '1.0.0', '@tool/windows': '1.0.0' } },
      'node_modules/@tool/linux': {},
    }
    const [problem, ...others] = unlockedPlatforms(file('package-lock.json', JSON.stringify({ packages })))
    expect(problem?.what).toContain('lacks @tool/windows')
    expect(others).toEqual([])
  })

  test('rules without tests, tests of missing rules and rules defined twice are found', () => {
    const rules = file(
      'SPEC.md',
      '- **P1** One.',
      '- **P2** Two.',
      '- **P3** Three.',
      '- **P1** Again.',
      '- **G1** Gate.',
    )
    const cited = file(
      'a.test.ts',
      "test('[P1] x', f)",
      "test('[P9] y', f)",
      'test(`[D1] [P2, G1] z`, f)',
      '// [P3]',
    )
    expect(places(ruleCitations(rules, [cited]))).toEqual(['SPEC.md:4', 'a.test.ts:2', 'SPEC.md:3'])
  })
})
