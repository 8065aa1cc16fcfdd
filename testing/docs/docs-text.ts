// The documents as text: fenced blocks, sections and the rows of tables.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dir, '../..')

export interface Block {
  path: string
  line: number
  text: string
}

export const documentOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

export function blocksOf(path: string, language: string, within = documentOf(path)): Block[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm')
  return Array.from(within.matchAll(fenced), (match) => ({
    path,
    line: within.slice(0, match.index).split('\n').length,
    text: match[1]!,
  }))
}

/** From a heading to the next one of any depth. */
export function section(path: string, heading: string): string {
  const start = new RegExp(`^#+ ${heading}\\n`, 'm').exec(documentOf(path))
  if (start === null) throw new Error(`${path} has no heading "${heading}"`)
  const after = start.input.slice(start.index + start[0].length)
  return after.split(/^#+ /m, 1)[0]!
}

/** The body rows of every table, each as its cells. */
export function rowsOf(text: string): string[][] {
  const tables = text.matchAll(/^\|.*\|\n\|[-| ]+\|\n((?:\|.*\|\n?)+)/gm)
  const rows = Array.from(tables).flatMap(([, body]) => body!.trimEnd().split('\n'))
  return rows.map((row) => row.split(/ *\| */).slice(1, -1))
}

export const plain = (cell: string): string => cell.replaceAll('`', '')
