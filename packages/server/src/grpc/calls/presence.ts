// Reads presence over gRPC.
import { readAsOf } from '../../http/read-as.ts'
import { parse, queryBody } from '../../input/schemas.ts'
import type { ViewerReader } from '../../presence/reading/viewer-reader.ts'
import { type Calls, refused, replied } from '../call.ts'
import { toPresenceMessage } from '../messages.ts'

export function presenceCalls({ viewerReader }: { viewerReader: ViewerReader }): Calls {
  return {
    GetPresence: {
      kind: 'unary',
      who: 'caller',
      limit: 'read',
      async run(caller, { user_ids, viewer_id }) {
        const body = parse(queryBody, { user_ids, ...(viewer_id === '' ? {} : { viewer_id }) })
        if (!body.ok) return refused(body.failure)
        const as = readAsOf(caller, body.value.viewer_id)
        if (!as.ok) return refused(as.failure)
        const { found, isDegraded } = await viewerReader.read(as.value, body.value.user_ids)
        return replied({ presences: found.map(toPresenceMessage), degraded: isDegraded })
      },
    },
  }
}
