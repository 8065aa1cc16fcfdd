// Live progress on stderr: one line that updates on a terminal, plain lines elsewhere. Stdout is
// for results.
import { now } from './clock.ts'

const PLAIN_EVERY_MS = 2_000

export interface Progress {
  /** The present step; replaces the one before. */
  show(text: string): void
  /** A line of its own. */
  say(text: string): void
  end(): void
}

export function createProgress(out: Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>): Progress {
  let shown = false
  let plainAt = 0
  const clear = () => {
    if (shown) out.write('\r\x1b[2K')
    shown = false
  }
  return {
    show(text) {
      if (out.isTTY) {
        clear()
        out.write(text.slice(0, (out.columns || 100) - 1))
        shown = true
      } else if (now() - plainAt >= PLAIN_EVERY_MS) {
        plainAt = now()
        out.write(`${text}\n`)
      }
    },
    say(text) {
      clear()
      out.write(`${text}\n`)
    },
    end: clear,
  }
}
