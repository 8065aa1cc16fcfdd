// Dead letters are small and have a key that Kafka takes, whatever the record and its key hold.
import { expect, test } from 'bun:test'
import { ID_BYTES_MAX, isId } from '@greendot/protocol'
import type { LogRecord } from '../log/port.ts'
import { createLogger } from '../platform/logger.ts'
import { createDeadLetters } from './dead-letters.ts'

/** The largest record of a broker with Kafka's own settings is a little more than a million bytes. */
const LETTER_BYTES_MAX = 500_000

async function letterOf(key: string | null, text: string, reason = 'because') {
  const put: LogRecord[] = []
  const lines: string[] = []
  const dead = createDeadLetters(
    { append: async (records) => void put.push(...records) },
    'presence.updates',
    createLogger({ level: 'trace', destination: { write: (line) => void lines.push(line) } }),
  )
  await dead.put(3, { userId: key, text, offset: '7' }, reason)
  const [{ userId, text: letter }] = put as [LogRecord]
  return { userId, bytes: Buffer.byteLength(letter), letter: JSON.parse(letter), lines }
}

test('[C3] a letter says where the record was and why it is here', async () => {
  const { userId, letter } = await letterOf('bob', 'rubbish')
  expect(userId).toBe('bob')
  expect(letter).toEqual({
    type: 'dead_letter',
    v: 1,
    topic: 'presence.updates',
    partition: 3,
    offset: '7',
    reason: 'because',
    key: 'bob',
    record: 'rubbish',
  })
})

test('[C3, X8] nothing of a record is logged, though the reason may quote it', async () => {
  const { letter, lines } = await letterOf('key-4711', 'record-4711', 'unknown type "reason-4711"')
  expect(letter.reason).toContain('4711')
  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toContain('4711')
})

test.each(['x', '\0', '漢', '\ud800'])(
  '[C3] a letter is small though record, key and reason are long: %j',
  async (character) => {
    const long = character.repeat(600_000)
    const { userId, bytes, letter } = await letterOf(long, long, long)
    expect(bytes).toBeLessThan(LETTER_BYTES_MAX)
    expect(long.startsWith(letter.key)).toBe(true)
    expect(userId).toBe('unknown')
  },
)

test.each([null, '', 'a b', 'x'.repeat(ID_BYTES_MAX + 1)])(
  '[C3] a key that is no id is not used: %j',
  async (key) => {
    const { userId } = await letterOf(key, 'rubbish')
    expect(isId(userId)).toBe(true)
  },
)
