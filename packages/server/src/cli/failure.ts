// Turns an error that stopped a command into one line that says what to do.
import { isIP } from 'node:net'
import type { Config } from '../platform/config/config.ts'

export function failureLine(error: unknown, config: Pick<Config, 'host' | 'port'>): string {
  return isSystemError(error) && error.syscall === 'listen'
    ? listenLine(error.code, config)
    : firstLine(error)
}

function listenLine(code: string, { host, port }: Pick<Config, 'host' | 'port'>): string {
  switch (code) {
    case 'EADDRINUSE': {
      // Bun reports the same code when a host name cannot be resolved.
      const orElse = isIP(host) || host === 'localhost' ? '' : `, or ${host} is not a name of this machine`
      return `port ${port} on ${host} is taken${orElse}; stop what uses it, or choose another with --port`
    }
    case 'EADDRNOTAVAIL':
      return `${host} is not an address of this machine; choose another with --host`
    case 'EACCES':
      return `port ${port} is not permitted; choose one above 1023 with --port`
    default:
      return `cannot listen on ${host}, port ${port} (${code}); check --host and --port`
  }
}

function isSystemError(error: unknown): error is Error & { code: string; syscall: string } {
  return error instanceof Error && 'code' in error && 'syscall' in error
}

function firstLine(error: unknown): string {
  const text = error instanceof Error && error.message !== '' ? error.message : String(error)
  return text.split('\n', 1)[0] ?? ''
}
