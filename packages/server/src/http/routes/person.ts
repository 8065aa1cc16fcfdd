// Export and erasure of the data of a user.

import { userId } from '../../input/schemas.ts'
import type { Eraser } from '../../presence/people/eraser.ts'
import type { PersonExport } from '../../presence/people/person-export.ts'
import { personData } from '../openapi/person-answer.ts'
import { noContent, replyJson } from '../reply.ts'
import { nothing, type Routes, route } from '../route.ts'

export interface PersonRoutesParts {
  exportPerson: PersonExport
  eraser: Eraser
}

export function personRoutes({ exportPerson, eraser }: PersonRoutesParts): Routes {
  return {
    '/api/v1/users/:user_id/export': {
      GET: route({
        for: 'server',
        summary: 'Export all data of a user',
        description:
          'An unknown user has an empty export. While a part of the data cannot be read, the answer is 503.',
        params: { user_id: userId },
        answers: { 200: personData },
        refusals: ['invalid_id'],
        run: async ({ params }) => replyJson(await exportPerson(params.user_id)),
      }),
    },
    '/api/v1/users/:user_id': {
      DELETE: route({
        for: 'server',
        summary: 'Erase all data of a user',
        description:
          'Their connections are closed, and from then on they look like an unknown user. Stop issuing tokens ' +
          'for them first: a user who connects again starts from nothing.',
        params: { user_id: userId },
        answers: { 204: nothing('Nothing is left') },
        refusals: ['invalid_id'],
        async run({ params }) {
          await eraser.erase(params.user_id)
          return noContent()
        },
      }),
    },
  }
}
