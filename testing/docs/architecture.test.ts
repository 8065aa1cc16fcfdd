// Keeps the ways through the code in ARCHITECTURE.md true: files are renamed, and documents are not compiled.
import { expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { documentOf, ROOT } from './docs-text.ts'

test('ARCHITECTURE.md names files that exist, and as many as it says', () => {
  const sources = [...new Bun.Glob('**/*.ts').scanSync({ cwd: join(ROOT, 'packages/server/src') })]
  const ways = documentOf('ARCHITECTURE.md').matchAll(/^### (.+): (\d+) files\n([\s\S]*?)(?=^##)/gm)
  for (const [, heading, count, text] of ways) {
    const named = Array.from(text!.matchAll(/`([\w/-]+\.ts)`/g), ([, path]) => path!)
    let folder = ''
    const files = named.map((path) => {
      // A name without a folder is in that of the name before it.
      const file = [`${folder}/${path}`, path].flatMap(
        (wanted) => sources.find((one) => one === wanted || one.endsWith(`/${wanted}`)) ?? [],
      )[0]
      folder = file === undefined ? '' : dirname(file)
      return file ?? `${path} is missing`
    })
    const missing = files.filter((file) => file.endsWith('missing'))
    expect([heading, missing, new Set(files).size]).toEqual([heading, [], Number(count)])
  }
})
