// The log under test, and consumers that remember what they were handed. Every wait is for an event: a test that
// something does not come appends a later record that does, and looks then.
import { afterEach } from 'bun:test'
import type { ChangeLog, Consumption, GroupStart, LogEntry } from '../../packages/server/src/log/port.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import { until, WAIT_MS, within } from '../services/within.ts'

export const quiet = createLogger({ level: 'silent' })

/** A consumer in a process of its own, which `kill` ends without a word. */
export interface DoomedConsumer {
  /** Resolves when it has handled that many records. */
  handled(count: number): Promise<void>
  kill(): Promise<void>
}

/** One log that is empty at first. The suite closes what it opens. */
export interface LogOnTest {
  /** As another process would open it. */
  open(): Promise<ChangeLog>
  /** Where the log is shared. */
  doom?(group: string): Promise<DoomedConsumer>
}

export interface MakeLog {
  /** Whether several processes can share the log, so that one of them can be killed. */
  isShared: boolean
  make(): Promise<LogOnTest>
  /** Keeps at least one record and forgets the first of 100 records of 60 KB of one user, sooner or later. */
  makeSmall(): Promise<LogOnTest>
}

export interface Taken extends LogEntry {
  partition: number
}

export interface Reader extends Consumption {
  all(): Taken[]
  texts(): string[]
  /** Resolves once that many entries were handled. */
  first(count: number): Promise<Taken[]>
  /** Resolves once an entry with this text was handled. */
  saw(text: string): Promise<void>
  /** Resolves once it has that many partitions. */
  owns(count: number): Promise<void>
}

export interface ReaderOptions {
  start?: GroupStart
  /** Runs before the entries count as handled. */
  before?: (partition: number, entries: readonly LogEntry[]) => Promise<void>
}

export function useLogs() {
  const open: ChangeLog[] = []
  afterEach(async () => {
    for (const log of open.splice(0)) await log.close()
  })

  async function openLog(logOnTest: LogOnTest): Promise<ChangeLog> {
    const log = await logOnTest.open()
    open.push(log)
    return log
  }

  return {
    open: openLog,
    read,
    /** A log whose group `g` has handled the first records of user `a`. */
    async running(logOnTest: LogOnTest, count: number): Promise<{ log: ChangeLog; reader: Reader }> {
      const log = await openLog(logOnTest)
      const reader = await read(log, 'g')
      await log.append(numbered('a', count))
      await reader.first(count)
      return { log, reader }
    },
  }
}

/** Appends a record of user `a` again and again until the log has taken it. */
export const appendUntilTaken = (log: ChangeLog, number: number): Promise<void> =>
  until(WAIT_MS, 'an append', () =>
    log.append(numbered('a', 1, number)).then(
      () => true,
      () => false,
    ),
  )

async function read(log: ChangeLog, group: string, options: ReaderOptions = {}): Promise<Reader> {
  const { start = 'oldest', before = async () => {} } = options
  const taken: Taken[] = []
  const owned = new Set<number>()
  const waiting = new Set<() => void>()

  const look = (): void => {
    for (const check of waiting) check()
  }

  function when(what: string, isTrue: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const check = (): void => {
      if (!isTrue()) return
      waiting.delete(check)
      resolve()
    }
    waiting.add(check)
    check()
    return within(WAIT_MS, what, promise).catch((error: Error) => {
      throw new Error(`${error.message}; ${group} has [${[...owned]}] and handled ${taken.length}`)
    })
  }

  const consumption = await log.consume(group, start, {
    async handle(partition, entries) {
      await before(partition, entries)
      for (const entry of entries) taken.push({ ...entry, partition })
      look()
    },
    onAssigned(partitions) {
      for (const partition of partitions) owned.add(partition)
      look()
    },
    onRevoked(partitions) {
      for (const partition of partitions) owned.delete(partition)
      look()
    },
  })

  return {
    ...consumption,
    all: () => [...taken],
    texts: () => taken.map(({ text }) => text),
    async first(count) {
      await when(`${count} records`, () => taken.length >= count)
      return taken.slice(0, count)
    },
    saw: (text) => when(`the record ${text.slice(0, 40)}`, () => taken.some((entry) => entry.text === text)),
    owns: (count) => when(`${count} partitions`, () => owned.size === count),
  }
}

export const numbered = (userId: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ userId, text: textOf(userId, from + index) }))

export const textOf = (userId: string, number: number): string => JSON.stringify({ user: userId, number })

/** What came for one user, without what came again. */
export function oncePerUser(taken: readonly Taken[], userId: string): string[] {
  return [...new Set(taken.filter((entry) => entry.userId === userId).map(({ text }) => text))]
}
