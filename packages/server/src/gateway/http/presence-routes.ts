// Reading presence over HTTP: one, many, or only the status of many.
import type { Failure, QueriedPresence } from '@greendot/protocol'
import type { Reader } from '../../presence/reader.ts'
import { sourceOf, toPresence, unknownPresence } from '../../presence/view.ts'
import { type Parsed, parse, queriedIds, queryBody, userId } from '../schemas.ts'
import { readBody } from './body.ts'
import type { Route, Routes } from './guard.ts'
import { refuse, replyJson } from './reply.ts'
import { queryOf } from './request-url.ts'

const DEGRADED = { 'greendot-degraded': 'true' }

export function presenceRoutes(reader: Reader): Routes {
  /** Answers with the people asked for, in the shape `shape` gives them. */
  async function answer(
    userIds: readonly string[],
    shape: (found: QueriedPresence[]) => unknown,
  ): Promise<Response> {
    const { records, isDegraded } = await reader.query(userIds)
    const found = userIds.map((id, index): QueriedPresence => {
      const record = records[index] ?? null
      if (record === null) return { ...unknownPresence(id), source: 'db' }
      return { ...toPresence(id, record), source: isDegraded ? 'db' : sourceOf(record) }
    })
    return replyJson(JSON.stringify(shape(found)), 200, isDegraded ? DEGRADED : {})
  }

  const asList = (found: QueriedPresence[]) => found
  const asStatuses = (found: QueriedPresence[]) =>
    Object.fromEntries(found.map((presence) => [presence.user_id, presence.status]))

  /** A route for users and servers that reads; `viewer_id` is checked on every one of them. */
  function reading(
    run: (request: Parameters<Route['run']>[0], query: URLSearchParams) => Promise<Response>,
  ): Route {
    return {
      for: 'caller',
      run: (request) => {
        const query = queryOf(request)
        const failure = viewerFailure(query)
        return failure === null ? run(request, query) : refuse(failure)
      },
    }
  }

  return {
    '/api/v1/presence': {
      GET: reading(async (_, query) => {
        const ids = idsOf(query)
        return ids.ok ? answer(ids.value, asList) : refuse(ids.failure)
      }),
    },
    '/api/v1/presence/query': {
      POST: reading(async (request) => {
        const body = await readBody(request, queryBody)
        return body.ok ? answer(body.value.user_ids, asList) : refuse(body.failure)
      }),
    },
    '/api/v1/presence/:user_id': {
      GET: reading(async (request) => {
        const id = parse(userId, request.params['user_id' as never])
        return id.ok ? answer([id.value], ([one]) => one) : refuse(id.failure)
      }),
    },
    '/presence/batch': {
      GET: reading(async (_, query) => {
        const ids = idsOf(query)
        return ids.ok ? answer(ids.value, asStatuses) : refuse(ids.failure)
      }),
    },
  }
}

function idsOf(query: URLSearchParams): Parsed<string[]> {
  const given = query.get('user_ids')
  if (given === null || given === '') {
    const message = 'name the users: ?user_ids=a,b'
    return { ok: false, failure: { code: 'bad_request', message } }
  }
  return parse(queriedIds, given.split(','))
}

function viewerFailure(query: URLSearchParams): Failure | null {
  const viewerId = query.get('viewer_id')
  if (viewerId === null) return null
  const parsed = parse(userId, viewerId)
  return parsed.ok ? null : parsed.failure
}
