// What connection servers of another system report about their sessions.
import { z } from 'zod'
import { foreignBatchBody } from '../../input/foreign-schemas.ts'
import { createForeignBatches, type ForeignBatchesParts } from '../foreign-batches.ts'
import { replyJson } from '../reply.ts'
import { json, type Routes, route } from '../route.ts'

const recordedBatch = json(
  z
    .object({
      accepted: z.int().meta({ description: 'How many entries were recorded' }),
      rejected: z.array(
        z.object({
          index: z.int().meta({ description: 'Its position: first `sessions`, then `disconnected`' }),
          code: z.string(),
          message: z.string(),
        }),
      ),
    })
    .meta({ id: 'RecordedBatch' }),
  'What became of the entries',
)

export function foreignRoutes(parts: ForeignBatchesParts): Routes {
  const record = createForeignBatches(parts)
  return {
    '/api/v1/heartbeats': {
      POST: route({
        for: 'server',
        summary: 'Heartbeats of a foreign gateway',
        description:
          'For connection servers of your own: which of their sessions are alive, in batches. A session that is not ' +
          'named for the time to live is lost. An entry that is refused does not stop the others.',
        body: foreignBatchBody,
        answers: { 200: recordedBatch },
        refusals: ['invalid_id', 'too_many_ids'],
        async run({ body: { gateway_id: gatewayId, sessions, disconnected } }) {
          return replyJson(JSON.stringify(await record({ gatewayId, sessions, disconnected })))
        },
      }),
    },
  }
}
