// Turns whatever stopped a command into one line that says what to do about it.
import type { Config } from '../platform/config.ts'

export function failureLine(error: unknown, config: Pick<Config, 'host' | 'port'>): string {
  const { host, port } = config
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is taken; stop what uses it, or choose another with --port (0 picks a free one)`
    case 'EADDRNOTAVAIL':
      return `${host} is not an address of this machine; choose another with --host`
    case 'EACCES':
    case 'EPERM':
      return `not allowed: ${firstLine(error)}; check permissions, and use a port above 1023`
    default:
      return firstLine(error)
  }
}

function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null
  return String(error.code)
}

function firstLine(error: unknown): string {
  const text = error instanceof Error && error.message !== '' ? error.message : String(error)
  return text.split('\n', 1)[0] ?? ''
}
