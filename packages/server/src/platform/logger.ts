// Structured logs: one JSON object per line, on stderr, because stdout carries the ready line. There are no
// transports and so no worker threads: a single-file executable has no files for them to load. Tokens and
// secrets are removed here, for all callers.
import pino from 'pino'

export type Logger = pino.Logger

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const SECRET_FIELDS = [
  'token',
  'authorization',
  'Authorization',
  'cookie',
  'secret',
  'password',
  'jwtSecret',
  'jwt_secret',
  'serverKeys',
  'server_keys',
  'server_key',
]

// A wildcard matches exactly one level: fields are removed at the top and up to two levels down.
const SECRET_PATHS = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`])

export interface LoggerOptions {
  level: LogLevel
  /** Where lines go instead of stderr. */
  destination?: { write(line: string): void }
}

export function createLogger({ level, destination }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_PATHS, censor: '(secret)' },
      serializers: { url: withoutToken },
    },
    // Synchronous, so that the last lines before a crash are not lost. No code logs per frame.
    destination ?? pino.destination({ fd: 2, sync: true }),
  )
}

/** Tokens may be in the query of a URL, where redaction by field name does not find them. */
function withoutToken(url: unknown): string {
  return String(url).replace(/([?&]token=)[^&#]*/gi, '$1(secret)')
}
