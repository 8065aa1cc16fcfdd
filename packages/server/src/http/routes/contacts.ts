// Contact lists, which the backend of the app manages. Lists may be long, so the JSON of an answer is written
// by the database.

import { contactsBody } from '../../input/person-schemas.ts'
import { userId } from '../../input/schemas.ts'
import type { Contacts } from '../../presence/people/contacts.ts'
import { contactList } from '../openapi/answers.ts'
import { noContent, replyJson } from '../reply.ts'
import { nothing, type Routes, route } from '../route.ts'

export function contactRoutes({ contacts }: { contacts: Contacts }): Routes {
  const edit = (summary: string, run: (ownerId: string, userIds: readonly string[]) => Promise<void>) =>
    route({
      for: 'server',
      summary,
      description:
        'Takes effect at once, for connections that follow the list and for users who are visible to contacts only.',
      params: { user_id: userId },
      body: contactsBody,
      answers: { 204: nothing('Done, and durable') },
      refusals: ['invalid_id'],
      async run({ params, body }) {
        await run(params.user_id, body.user_ids)
        return noContent()
      },
    })

  return {
    '/api/v1/users/:user_id/contacts': {
      GET: route({
        for: 'server',
        summary: 'Read a contact list',
        description:
          'Directed: the users on the list of this user, not the users who have this user on theirs.',
        params: { user_id: userId },
        answers: { 200: contactList },
        refusals: ['invalid_id'],
        run: async ({ params }) => replyJson(`{"user_ids":${await contacts.list(params.user_id)}}`),
      }),
      PUT: edit('Replace a contact list', (ownerId, ids) => contacts.replace(ownerId, ids)),
      POST: edit('Add to a contact list', (ownerId, ids) => contacts.add(ownerId, ids)),
      DELETE: edit('Remove from a contact list', (ownerId, ids) => contacts.remove(ownerId, ids)),
    },
  }
}
