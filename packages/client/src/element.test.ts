// <green-dot> where there is no page, and what it says. What it does in a page is in
// testing/browser/client-element.test.ts.
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeInEnglish } from './element/look.ts'

const NODE = Bun.which('node')

describe('<green-dot> outside of a page', () => {
  test('[X3] importing it on a server defines nothing and breaks nothing', async () => {
    expect(globalThis.customElements).toBeUndefined()
    const { GreenDot, GreendotConnection } = await import('./element.ts')
    expect([typeof GreenDot.connect, typeof GreendotConnection]).toEqual(['function', 'function'])
  })

  test.skipIf(NODE === null)('[X3] nor does it in Node (skipped where there is no Node)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'greendot-test-'))
    try {
      const file = join(folder, 'element.mjs')
      const built = await Bun.build({ entrypoints: [`${import.meta.dir}/element.ts`], target: 'browser' })
      await Bun.write(file, built.outputs[0]!)
      const node = Bun.spawn([
        NODE!,
        '-e',
        `import(${JSON.stringify(file)}).then((all) => console.log(Object.keys(all)))`,
      ])
      expect(await new Response(node.stdout).text()).toBe("[ 'GreenDot', 'GreendotConnection' ]\n")
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('[X3] a bundler keeps an import that is there for its effect', async () => {
    const built = await Bun.build({
      entrypoints: ['page.ts'],
      files: { 'page.ts': `import '${import.meta.dir}/element.ts'` },
      target: 'browser',
    })
    expect(await built.outputs[0]!.text()).toContain('green-dot')
  })
})

describe('what a dot says', () => {
  test.each([
    ['Bob: online', { label: 'Bob', status: 'online', isStale: false }],
    ['Bob: was offline', { label: 'Bob', status: 'offline', isStale: true }],
    ['Bob: unknown', { label: 'Bob', status: 'unknown', isStale: true }],
    ['busy', { label: '', status: 'busy', isStale: false }],
  ] as const)('[X3] %s', (words, view) => expect(describeInEnglish(view)).toBe(words))
})
