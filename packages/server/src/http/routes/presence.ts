// Reads presence over HTTP: one user, many users, or only the status of many.
import type { QueriedPresence } from '@greendot/protocol'
import { type Parsed, queriedIdsInUrl, queryBody, userId, viewerId } from '../../input/schemas.ts'
import type { ViewerReader } from '../../presence/reading/viewer-reader.ts'
import type { Caller } from '../access/auth.ts'
import { onePresence, presences, statuses } from '../openapi/answers.ts'
import { readAsOf } from '../read-as.ts'
import { DEGRADED, refuse, replyJson } from '../reply.ts'
import { type Routes, route } from '../route.ts'

interface Asking {
  caller: Caller
  query: { viewer_id: string | undefined }
}

/** The viewer may be named in the body or in the URL, but not two of them. */
function viewerOf(inBody: string | undefined, inUrl: string | undefined): Parsed<string | undefined> {
  if (inBody === undefined || inUrl === undefined || inBody === inUrl)
    return { ok: true, value: inBody ?? inUrl }
  const message = 'viewer_id is in the body and in the URL, and they differ; send one'
  return { ok: false, failure: { code: 'bad_request', message } }
}

type Shaped = (found: QueriedPresence[]) => unknown

export function presenceRoutes({ viewerReader }: { viewerReader: ViewerReader }): Routes {
  async function answerList(asking: Asking, userIds: readonly string[]): Promise<Response> {
    const as = readAsOf(asking.caller, asking.query.viewer_id)
    if (!as.ok) return refuse(as.failure)
    const { json, isDegraded } = await viewerReader.readJson(as.value, userIds)
    return replyJson(json, 200, isDegraded ? DEGRADED : {})
  }

  async function answer(asking: Asking, userIds: readonly string[], shape: Shaped): Promise<Response> {
    const as = readAsOf(asking.caller, asking.query.viewer_id)
    if (!as.ok) return refuse(as.failure)
    const { found, isDegraded } = await viewerReader.read(as.value, userIds)
    return replyJson(JSON.stringify(shape(found)), 200, isDegraded ? DEGRADED : {})
  }

  const asStatuses: Shaped = (found) =>
    Object.fromEntries(found.map((presence) => [presence.user_id, presence.status]))

  return {
    '/api/v1/presence': {
      GET: route({
        for: 'caller',
        limit: 'read',
        summary: 'Presence of many users',
        description: 'Lists that do not fit into a URL of 64 KB go to the query below.',
        query: { viewer_id: viewerId, user_ids: queriedIdsInUrl },
        answers: { 200: presences },
        refusals: ['bad_request', 'invalid_id', 'too_many_ids'],
        run: (call) => answerList(call, call.query.user_ids),
      }),
    },
    '/api/v1/presence/query': {
      POST: route({
        for: 'caller',
        limit: 'read',
        summary: 'Presence of many users, by body',
        query: { viewer_id: viewerId },
        body: queryBody,
        answers: { 200: presences },
        refusals: ['bad_request', 'invalid_id', 'too_many_ids'],
        run({ caller, query, body }) {
          const viewer = viewerOf(body.viewer_id, query.viewer_id)
          if (!viewer.ok) return refuse(viewer.failure)
          return answerList({ caller, query: { viewer_id: viewer.value } }, body.user_ids)
        },
      }),
    },
    '/api/v1/presence/:user_id': {
      GET: route({
        for: 'caller',
        limit: 'read',
        summary: 'Presence of one user',
        description:
          'As others see the user, even when you ask for yourself. A user whose id is the name of a route beside ' +
          'this one (query, status, availability, settings) is read by the query above.',
        params: { user_id: userId },
        query: { viewer_id: viewerId },
        answers: { 200: onePresence },
        refusals: ['bad_request', 'invalid_id'],
        run: (call) => answer(call, [call.params.user_id], ([one]) => one),
      }),
    },
    '/presence/batch': {
      GET: route({
        for: 'caller',
        limit: 'read',
        summary: 'Only the status of many users',
        query: { viewer_id: viewerId, user_ids: queriedIdsInUrl },
        answers: { 200: statuses },
        refusals: ['bad_request', 'invalid_id', 'too_many_ids'],
        run: (call) => answer(call, call.query.user_ids, asStatuses),
      }),
    },
  }
}
