// Reading presence over HTTP: one, many, or only the status of many.
import type { Failure, QueriedPresence } from '@greendot/protocol'
import type { Tracker } from '../../presence/tracker.ts'
import { sourceOf, toPresence, unknownPresence } from '../../presence/view.ts'
import { type Parsed, parse, queriedIds, queryBody, userId } from '../schemas.ts'
import { readBody } from './body.ts'
import type { Route, Routes } from './guard.ts'
import { refuse, reply } from './reply.ts'
import { urlOf } from './request-url.ts'

export function presenceRoutes(tracker: Tracker): Routes {
  async function query(userIds: readonly string[]): Promise<QueriedPresence[]> {
    const records = await tracker.read(userIds)
    return userIds.map((id, index) => {
      const record = records[index] ?? null
      if (record === null) return { ...unknownPresence(id), source: 'db' }
      return { ...toPresence(id, record), source: sourceOf(record) }
    })
  }

  /** A route for users and servers that reads; `viewer_id` is checked on every one of them. */
  function reading(run: (request: Parameters<Route['run']>[0], url: URL) => Promise<Response>): Route {
    return {
      for: 'caller',
      run: (request) => {
        const url = urlOf(request)
        const failure = viewerFailure(url)
        return failure === null ? run(request, url) : refuse(failure)
      },
    }
  }

  return {
    '/api/v1/presence': {
      GET: reading(async (_, url) => {
        const ids = idsOf(url)
        return ids.ok ? reply(await query(ids.value)) : refuse(ids.failure)
      }),
    },
    '/api/v1/presence/query': {
      POST: reading(async (request) => {
        const body = await readBody(request, queryBody)
        return body.ok ? reply(await query(body.value.user_ids)) : refuse(body.failure)
      }),
    },
    '/api/v1/presence/:user_id': {
      GET: reading(async (request) => {
        const id = parse(userId, request.params['user_id' as never])
        return id.ok ? reply((await query([id.value]))[0]) : refuse(id.failure)
      }),
    },
    '/presence/batch': {
      GET: reading(async (_, url) => {
        const ids = idsOf(url)
        if (!ids.ok) return refuse(ids.failure)
        const found = await query(ids.value)
        return reply(Object.fromEntries(found.map((presence) => [presence.user_id, presence.status])))
      }),
    },
  }
}

function idsOf(url: URL): Parsed<string[]> {
  const given = url.searchParams.get('user_ids')
  if (given === null || given === '') {
    const message = 'name the users: ?user_ids=a,b'
    return { ok: false, failure: { code: 'bad_request', message } }
  }
  return parse(queriedIds, given.split(','))
}

function viewerFailure(url: URL): Failure | null {
  const viewerId = url.searchParams.get('viewer_id')
  if (viewerId === null) return null
  const parsed = parse(userId, viewerId)
  return parsed.ok ? null : parsed.failure
}
