// The files that a builder may copy from: those of the repository that .dockerignore leaves. The rules are those of
// the builder: the last line that matches a path or a folder around it decides, `*` stays within a name, and `**`
// crosses folders.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface Line {
  pattern: RegExp
  isException: boolean
}

export interface Context {
  /** Whether a path, relative to the root of the context, reaches the builder. */
  has(path: string): boolean
  /** Copies a file, or the files of a folder that are in the context; a source without any is an error. */
  copy(source: string, target: string): void
}

export function readContext(root: string): Context {
  const lines = parseIgnoreFile(readFileSync(join(root, '.dockerignore'), 'utf8'))

  function has(path: string): boolean {
    const around = path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))
    const last = lines.findLast(({ pattern }) => around.some((part) => pattern.test(part)))
    return last === undefined || last.isException
  }

  function filesIn(path: string): string[] {
    if (!statSync(join(root, path)).isDirectory()) return has(path) ? [path] : []
    // A folder of packages or of Git is large, and no exception reaches into it.
    if (/(^|\/)(node_modules|\.git)$/.test(path)) return []
    return readdirSync(join(root, path)).flatMap((name) => filesIn(`${path}/${name}`))
  }

  return {
    has,
    copy(source, target) {
      const files = existsSync(join(root, source)) ? filesIn(source) : []
      if (files.length === 0) throw new Error(`${source} is not in the context of the build`)
      for (const file of files) {
        const place = join(target, file.slice(source.length))
        mkdirSync(dirname(place), { recursive: true })
        cpSync(join(root, file), place)
      }
    },
  }
}

function parseIgnoreFile(text: string): Line[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return lines.map((line) => {
    const isException = line.startsWith('!')
    return { isException, pattern: patternOf(line.slice(isException ? 1 : 0).trim()) }
  })
}

function patternOf(line: string): RegExp {
  const parts = line.replace(/^\/|\/$/g, '').match(/\*\*\/|\*\*|\*|\?|[^*?]+/g) ?? []
  const source = parts.map((part) => WILDCARDS[part] ?? part.replace(/[.+^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${source.join('')}$`)
}

const WILDCARDS: Record<string, string> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' }
