// Log lines are JSON, obey the level, and never carry a token or a secret.
import { expect, test } from 'bun:test'
import type { LogLevel } from './logger.ts'
import { createLogger } from './logger.ts'

function logged(level: LogLevel, log: (logger: ReturnType<typeof createLogger>) => void) {
  const lines: string[] = []
  log(createLogger({ level, destination: { write: (line) => void lines.push(line) } }))
  return lines
}

test('[X8] a line is one JSON object with a level, a time and a message', () => {
  const [line] = logged('info', (logger) => logger.info({ port: 1 }, 'ready'))
  expect(line).toEndWith('}\n')
  expect(JSON.parse(line!)).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    port: 1,
    msg: 'ready',
  })
})

test('[X8] what is below the level is not logged', () => {
  const lines = logged('warn', (logger) => {
    logger.info('no')
    logger.warn('yes')
  })
  expect(lines).toHaveLength(1)
})

test('[C6] tokens and secrets are cut, at the top and further down', () => {
  const lines = logged('info', (logger) => {
    const secret = 'hunter2'
    logger.info({ token: secret, authorization: secret, jwt_secret: secret })
    logger.info({ config: { jwtSecret: secret, serverKeys: [secret] } })
    logger.info({ request: { headers: { authorization: secret, cookie: secret } } })
    logger.child({ token: secret }).info('child')
    logger.info({ url: `/api/v1/ws?token=${secret}&device_id=d` })
    logger.info({ url: new URL(`http://h/?a=1&token=${secret}#x`) })
  })
  expect(lines).toHaveLength(6)
  expect(lines.join('')).not.toContain('hunter2')
  expect(lines[4]).toContain('device_id=d')
})

test('[S3, C6] of an error its message and place are logged, not the fields that others put on it', () => {
  const command = Object.assign(new Error('OOM command not allowed'), {
    code: 'OOM',
    command: { name: 'evalsha', args: ['hunter2'] },
    detail: 'hunter2',
  })
  const parsing = new SyntaxError('Unexpected identifier "hunter2"')
  const [line, quoted] = logged('info', (logger) => {
    logger.error({ err: new Error('a batch failed', { cause: command }) }, 'oh')
    logger.error({ err: parsing }, 'oh')
  })
  expect(JSON.parse(line!).err).toMatchObject({
    type: 'Error',
    message: 'a batch failed',
    stack: expect.stringContaining('logger.test.ts'),
    cause: { message: 'OOM command not allowed', code: 'OOM' },
  })
  expect(line! + quoted!).not.toContain('hunter2')
})

test('[X8] a flood of equal lines is kept short and counted', () => {
  let suppressed = 0
  const lines = logged('info', (logger) => {
    for (let line = 0; line < 1_000; line++) logger.warn({ line }, 'again')
    logger.warn('something else')
    suppressed = logger.suppressedLines()
  })
  expect([lines.length, suppressed]).toEqual([51, 950])
})

test('[X8] errors are logged with their message', () => {
  const [line] = logged('info', (logger) => logger.error({ err: new Error('broken') }, 'oh'))
  expect(JSON.parse(line!)).toMatchObject({ level: 'error', err: { message: 'broken' }, msg: 'oh' })
})
