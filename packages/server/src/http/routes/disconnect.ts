// The app ends the sessions of a user.
import { disconnectBody } from '../../input/foreign-schemas.ts'
import { userId } from '../../input/schemas.ts'
import type { Disconnects } from '../../presence/people/disconnects.ts'
import { noContent, refuse } from '../reply.ts'
import { nothing, type Routes, route } from '../route.ts'

export function disconnectRoutes({ disconnects }: { disconnects: Pick<Disconnects, 'disconnect'> }): Routes {
  return {
    '/api/v1/users/:user_id/disconnect': {
      POST: route({
        for: 'server',
        summary: 'Disconnect a user',
        description:
          'Ends the sessions of a user, or of one device, at once. WebSockets are closed with 4403 after an error ' +
          'frame with the reason. With `until`, tokens of the user that were issued before are refused until then, ' +
          'by every process; a token that does not say when it was issued counts as issued before.',
        params: { user_id: userId },
        body: disconnectBody,
        answers: { 204: nothing('The sessions are over') },
        refusals: ['invalid_id', 'invalid_expiry', 'text_too_long', 'overloaded'],
        async run({ params, body: { device_id: deviceId, reason, until } }) {
          const failure = await disconnects.disconnect(params.user_id, { deviceId, reason, until })
          return failure === null ? noContent() : refuse(failure)
        },
      }),
    },
  }
}
