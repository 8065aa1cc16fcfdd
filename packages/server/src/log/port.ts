// ChangeLog: records about users, in an order that holds for each user, for consumers that read them later or again.
// A log has partitions, and all records of a user are in one. Consumers of one group share the partitions: a partition
// has one consumer of a group at a time. What a group handled is remembered, so another consumer goes on where one
// died. A record may be handed out twice, and never in another order.

export interface LogRecord {
  userId: string
  /** One record as JSON, on one line. */
  text: string
}

/** A record as it is read. Offsets grow within a partition; their text means something to the adapter alone. */
export interface LogEntry {
  /** As the writer gave it; foreign writers may have given anything, or nothing. */
  userId: string | null
  text: string
  offset: string
}

export interface LogConsumer {
  /**
   * Entries of one partition, oldest first; the next ones follow when this has resolved, and their offset is kept then.
   * When it rejects, the same entries come again after a pause.
   */
  handle(partition: number, entries: readonly LogEntry[]): Promise<void>
  /** These partitions are this consumer's from now on. */
  onAssigned?(partitions: readonly number[]): void
  /** They are not any more. What is being handled may be handed to another consumer as well. */
  onRevoked?(partitions: readonly number[]): void
}

export interface Consumption {
  /** The partitions that this consumer has now. */
  partitions(): readonly number[]
  /** Ends when what is being handled has ended. Other consumers of the group take over at once. */
  stop(): Promise<void>
}

/** Where a group begins that never read this log: with the oldest entry that is kept, or with what comes from now on. */
export type GroupStart = 'oldest' | 'newest'

export interface ChangeLog {
  readonly partitionCount: number
  /** Resolves when the records are as durable as the log is. Records of a user are kept in the order they were given. */
  append(records: readonly LogRecord[]): Promise<void>
  consume(group: string, start: GroupStart, consumer: LogConsumer): Promise<Consumption>
  /** The group reads a partition again, from the entry after this offset; null: from the oldest. It must not be reading. */
  rewind(group: string, partition: number, offset: string | null): Promise<void>
  /** Entries that the group has not handled, in all partitions; as good as the log can tell. */
  lag(group: string): Promise<number>
  close(): Promise<void>
}
