// Holds docs/foreign-gateways.md against the code: its answer and its record have the shape of the real ones, and its
// numbers are those of the server. Its shell blocks are run by docs.test.ts.
import { expect, test } from 'bun:test'
import { FOREIGN_ENTRIES_MAX, REASON_CHARS_MAX, type SessionRecord } from '@greendot/protocol'
import { readUpdate } from '../../packages/server/src/streaming/update-record.ts'
import { call, useScene } from '../e2e/scene.ts'
import { blocksOf, documentOf, section } from './docs-text.ts'

const PATH = 'docs/foreign-gateways.md'
const scene = useScene()

const exampleIn = (heading: string) => blocksOf(PATH, 'json', section(PATH, heading))[0]!.text

test('[C4] the answer in docs/foreign-gateways.md is one of the server', async () => {
  const { url } = await scene.server()
  const device = { device_id: 'd', activity: 'active' }
  const sessions = [
    { user_id: 'alice', ...device },
    { user_id: '', ...device },
    { user_id: 'bob', ...device },
  ]
  const answer = await call(url, 'dev', 'POST', '/api/v1/heartbeats', { gateway_id: 'chat-1', sessions })
  expect(answer.body).toEqual(JSON.parse(exampleIn('A batch over HTTP')))
})

test('[C4] the record in docs/foreign-gateways.md is read as a session', () => {
  const record: SessionRecord = JSON.parse(exampleIn('Over Kafka'))
  expect(readUpdate({ userId: record.user_id, text: JSON.stringify(record) })).toMatchObject({
    kind: 'foreign',
    record: { gatewayId: record.gateway_id, session: { userId: record.user_id, activity: record.activity } },
  })
})

test('[C4, C6] the limits in docs/foreign-gateways.md are those of the server', () => {
  const text = documentOf(PATH).replaceAll('\n', ' ')
  expect(text).toContain(`at most ${FOREIGN_ENTRIES_MAX.toLocaleString('en')} entries`)
  expect(text).toContain(`at most ${REASON_CHARS_MAX} characters`)
})
