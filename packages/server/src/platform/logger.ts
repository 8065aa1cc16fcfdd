// Structured logs: one JSON object per line, on stderr, because stdout carries the ready line. There are no
// transports and so no worker threads: a single-file executable has no files for them to load. Tokens and
// secrets are removed here, for all callers, and floods are kept short.
import pino from 'pino'
import { createLogFlood } from './log-flood.ts'

export type Logger = pino.Logger

/** The logger that the others are made from. */
export interface RootLogger extends Logger {
  /** Lines left out of floods since the start. */
  suppressedLines(): number
}

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

const ERROR_CHARS_MAX = 1_000
const CAUSES_MAX = 3

export interface LoggerOptions {
  level: LogLevel
  /** Where lines go instead of stderr. */
  destination?: { write(line: string): void }
}

export function createLogger({ level, destination }: LoggerOptions): RootLogger {
  const flood = createLogFlood((delayMs, run) => {
    const timer = setTimeout(run, delayMs)
    // A count that waits to be told keeps no process alive.
    timer.unref()
    return { stop: () => clearTimeout(timer) }
  })
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_PATHS, censor: '(secret)' },
      serializers: { url: withoutToken, err: errorFields },
      hooks: {
        logMethod(args, write) {
          const message = messageOf(args)
          const tell = (suppressed: number) =>
            write.call(this, { suppressed, message }, 'equal lines were left out')
          if (flood.admits(message, tell)) write.apply(this, args)
        },
      },
    },
    // Synchronous, so that the last lines before a crash are not lost. No code logs per frame.
    destination ?? pino.destination({ fd: 2, sync: true }),
  )
  return Object.assign(logger, { suppressedLines: flood.suppressed })
}

function messageOf([first, second]: readonly unknown[]): string {
  return typeof first === 'string' ? first : typeof second === 'string' ? second : ''
}

/** Tokens may be in the query of a URL, where redaction by field name does not find them. */
function withoutToken(url: unknown): string {
  return String(url).replace(/([?&]token=)[^&#]*/gi, '$1(secret)')
}

/**
 * What is wrong and where. Other fields of an error are left out: those of databases have the arguments of the command
 * that failed, and with them what users wrote.
 */
function errorFields(error: unknown, causes = 0): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { name, stack, cause } = error
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  const places = stack?.split('\n').filter((line) => /^\s+at /.test(line))
  return {
    type: name,
    message: messageWithoutText(error),
    ...code,
    stack: places?.join('\n').slice(0, ERROR_CHARS_MAX) ?? '',
    ...(cause !== undefined && causes < CAUSES_MAX && { cause: errorFields(cause, causes + 1) }),
  }
}

/** A parser quotes the text that it cannot read. */
function messageWithoutText({ name, message }: Error): string {
  return name === 'SyntaxError' ? 'text cannot be parsed' : message.slice(0, ERROR_CHARS_MAX)
}
