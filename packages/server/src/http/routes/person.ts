// The data of a person, for the backend to hand out or to have forgotten.

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
        summary: 'Export everything about a person',
        description:
          'Somebody nobody has heard of has an export too, with nothing in it. While a part of what is kept ' +
          'cannot be read, there is none: 503.',
        params: { user_id: userId },
        answers: { 200: personData },
        refusals: ['invalid_id'],
        run: async ({ params }) => replyJson(await exportPerson(params.user_id)),
      }),
    },
    '/api/v1/users/:user_id': {
      DELETE: route({
        for: 'server',
        summary: 'Erase everything about a person',
        description:
          'Their connections are closed, and from then on they look like somebody who never came. Stop ' +
          'issuing tokens for them first: whoever connects again begins anew.',
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
