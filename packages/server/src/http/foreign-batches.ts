// A batch of a foreign gateway, over HTTP or gRPC: its entries are checked one by one, and those that are good go to the
// process that holds the sessions of this gateway. One set of actions behind both doors.
import type { ForeignBatch, ForeignDevice, ForeignSession, Rejection } from '../foreign/batch.ts'
import type { ForeignRouting } from '../foreign/routing.ts'
import { parseForeignDevice, parseForeignSession } from '../input/foreign-schemas.ts'
import type { Parsed } from '../input/schemas.ts'
import type { Tally } from '../platform/measuring/tally.ts'

export interface ReportedBatch {
  gatewayId: string
  /** As they were sent. */
  sessions: readonly unknown[]
  disconnected: readonly unknown[]
}

export interface RecordedBatch {
  accepted: number
  /** In the order of the entries. */
  rejected: readonly Rejection[]
}

export type ForeignBatches = (batch: ReportedBatch) => Promise<RecordedBatch>

export interface ForeignBatchesParts {
  foreign: Pick<ForeignRouting, 'record'>
  tally: Tally
}

export function createForeignBatches({ foreign, tally }: ForeignBatchesParts): ForeignBatches {
  return async ({ gatewayId, sessions, disconnected }) => {
    const refused: Rejection[] = []
    /** Positions of the good entries in what was sent. */
    const positions: number[] = []

    function good<T>(sent: readonly unknown[], first: number, parse: (value: unknown) => Parsed<T>): T[] {
      const found: T[] = []
      for (const [position, value] of sent.entries()) {
        const parsed = parse(value)
        if (parsed.ok) {
          found.push(parsed.value)
          positions.push(first + position)
        } else refused.push({ index: first + position, ...parsed.failure })
      }
      return found
    }

    const batch: ForeignBatch = {
      gatewayId,
      sessions: good<ForeignSession>(sessions, 0, parseForeignSession),
      disconnected: good<ForeignDevice>(disconnected, sessions.length, parseForeignDevice),
    }
    // The others are counted where they are handed on.
    tally.foreignEntries += refused.length
    for (const { code } of refused) tally.foreignRejections.add(code)
    const rejections = positions.length === 0 ? [] : await foreign.record(batch)
    const rejected = [...refused, ...rejections.map((one) => ({ ...one, index: positions[one.index]! }))]
    rejected.sort((a, b) => a.index - b.index)
    return { accepted: sessions.length + disconnected.length - rejected.length, rejected }
  }
}
