// Keeps the ways through the code in ARCHITECTURE.md true: files are renamed, and documents are not compiled.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { documentOf, ROOT } from './docs-text.ts'

test('ARCHITECTURE.md names files that exist, and as many as it says', () => {
  const sources = [...new Bun.Glob('**/*.ts').scanSync({ cwd: join(ROOT, 'packages/server/src') })]
  const ways = documentOf('ARCHITECTURE.md').matchAll(/^### (.+): (\d+) files\n([\s\S]*?)(?=^##)/gm)
  for (const [, heading, count, text] of ways) {
    const named = Array.from(text!.matchAll(/`([\w/-]+\.ts)`/g), ([, path]) => path!)
    const missing = named.filter((path) => !sources.some((one) => one === path || one.endsWith(`/${path}`)))
    const names = new Set(named.map((path) => path.replace(/.*\//, '')))
    expect([heading, missing, names.size]).toEqual([heading, [], Number(count)])
  }
})
