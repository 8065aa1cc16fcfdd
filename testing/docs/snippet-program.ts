// Code of a document as a program: it talks to the server of the test, and lies outside of the repository.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './docs-text.ts'

/** The server of `npm start`, as documents and examples name it. */
const HOST_IN_DOCUMENTS = '127.0.0.1:4400'

export const fromHere = (text: string, server: { url: string }): string =>
  text.replaceAll(HOST_IN_DOCUMENTS, new URL(server.url).host)

/** Outside of the repository, with its imports resolved as if it were inside. */
export async function inFolder(
  name: string,
  text: string,
  use: (path: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-readme-'))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, name), text)
  try {
    await use(join(folder, name))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
