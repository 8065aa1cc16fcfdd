// Ends the connections that the app disconnects, with a reason: sockets by their close code, streams by their last frame,
// and sessions without a socket by the answer to their next heartbeat. A connection that began later stays, unless its
// token is refused: this process had not heard of the disconnect when it began.
import type { Failure } from '@greendot/protocol'
import type { Disconnect } from '../../bus/port.ts'
import type { EndedSessions } from './ended-sessions.ts'
import type { SessionTable } from './session-table.ts'
import type { Sessions } from './sessions.ts'
import type { Sockets } from './sockets.ts'
import type { StreamConnections } from './stream-connections.ts'

const NO_REASON = 'disconnected by the app'

export interface DisconnectingParts {
  table: SessionTable
  sessions: Pick<Sessions, 'rowsOf'>
  sockets: Pick<Sockets, 'disconnect'>
  streams: Pick<StreamConnections, 'disconnect'>
  ended: EndedSessions
}

export type Disconnecting = (userId: string, disconnect: Disconnect) => void

export function createDisconnecting(parts: DisconnectingParts): Disconnecting {
  const { table, sessions, sockets, streams, ended } = parts
  const { columns } = table

  return (userId, { deviceId, at, issuedBefore, until, reason }) => {
    const failure: Failure = { code: 'forbidden', message: reason ?? NO_REASON }
    const isMeant = (beganAt: number, issuedAt: number) =>
      beganAt <= at || (until !== null && issuedAt < issuedBefore)
    for (const row of sessions.rowsOf(userId)) {
      const device = columns.deviceIds[row]!
      if (deviceId !== null && device !== deviceId) continue
      if (!isMeant(columns.connectedAt[row]!, columns.tokenIssuedAt[row]!)) continue
      if (columns.sockets[row] === null)
        ended.end({ foreign: columns.foreign[row]!, userId, deviceId: device }, issuedBefore, failure)
      sockets.disconnect(row, failure)
    }
    // A stream has no device. One whose token is refused from now on ends as well.
    if (deviceId === null || until !== null) streams.disconnect(userId, isMeant, failure)
  }
}
