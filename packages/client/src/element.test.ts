// <green-dot> outside of a page, and its texts. What it does in a page is in
// testing/browser/client-element.test.ts.
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeInEnglish } from './element/look.ts'

const NODE = Bun.which('node')

describe('<green-dot> outside of a page', () => {
  test('[X3] can be imported on a server, and defines nothing there', async () => {
    expect(globalThis.customElements).toBeUndefined()
    const { GreenDot, GreendotConnection } = await import('./element.ts')
    expect([typeof GreenDot.connect, typeof GreendotConnection]).toEqual(['function', 'function'])
  })

  test.skipIf(NODE === null)('[X3] can be imported in Node (skipped if there is no Node)', async () => {
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

  test('[X3] a bundler keeps an import without names', async () => {
    const built = await Bun.build({
      entrypoints: ['page.ts'],
      files: { 'page.ts': `import '${import.meta.dir}/element.ts'` },
      target: 'browser',
    })
    expect(await built.outputs[0]!.text()).toContain('green-dot')
  })
})

describe('the text of a dot', () => {
  test.each([
    ['Bob: online', { label: 'Bob', status: 'online', isStale: false }],
    ['Bob: was offline', { label: 'Bob', status: 'offline', isStale: true }],
    ['Bob: unknown', { label: 'Bob', status: 'unknown', isStale: true }],
    ['busy', { label: '', status: 'busy', isStale: false }],
  ] as const)('[X3] %s', (words, view) => expect(describeInEnglish(view)).toBe(words))
})
