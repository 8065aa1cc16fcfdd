// Records of foreign gateways, as batches: one for each gateway, and of each session only the newest record. What was
// said of it before does not matter any more, also when the log hands it out again.
import { FOREIGN_ENTRIES_MAX } from '@greendot/protocol'
import type { ForeignBatch } from '../foreign/batch.ts'
import { chunksOf } from '../platform/chunks.ts'
import type { ForeignRecord } from './update-record.ts'

/** In the order of the log. */
export function toBatches(records: readonly ForeignRecord[]): ForeignBatch[] {
  const newest = new Map<string, ForeignRecord>()
  for (const record of records) {
    const { gatewayId, device } = record
    newest.set(`${gatewayId} ${device.userId} ${device.deviceId}`, record)
  }
  const byGateway = Map.groupBy(newest.values(), ({ gatewayId }) => gatewayId)
  return Array.from(byGateway).flatMap(([gatewayId, all]) =>
    Array.from(chunksOf(all, FOREIGN_ENTRIES_MAX), (part) => ({
      gatewayId,
      sessions: part.flatMap(({ session }) => session ?? []),
      disconnected: part.flatMap(({ session, device }) => (session === null ? [device] : [])),
      isBrief: true,
    })),
  )
}
