// A streaming deployment of real processes: what clients see is what they see without Kafka, changes come out in
// order, and an outage of Kafka loses nothing.
import { expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import {
  CHANGES_TOPIC,
  DEAD_TOPIC,
  type OwnPresence,
  type SessionRecord,
  type StatusChangedRecord,
  UPDATES_TOPIC,
} from '@greendot/protocol'
import { call, isAway, isOffline, isOnline, useScene, watch } from '../e2e/scene.ts'
import { describeWithService } from '../services/describe.ts'
import { findKafkaPython } from '../services/kafka-python.ts'
import { linesOf } from '../services/lines.ts'
import { until, WAIT_MS, within } from '../services/within.ts'
import { foundAll, readAll, startAll } from './kafka-services.ts'
import { killOwner } from './owner-killed.ts'

const TEST_MS_MAX = 120_000
const EXAMPLE = resolve(import.meta.dir, '../../examples/kafka-consumer')

async function firstLines(
  stream: ReadableStream<Uint8Array>,
  start: string,
  count: number,
): Promise<string[]> {
  const found: string[] = []
  for await (const line of linesOf(stream)) {
    if (line.startsWith(start)) found.push(line)
    if (found.length === count) break
  }
  return found
}

describeWithService('a deployment with Kafka', foundAll, startAll, (services) => {
  const scene = useScene()

  async function start() {
    const settings = { ...(await services().settings()), offline_delay_ms: 300, flush_ms: 10 }
    const here = await scene.server({ ...settings, roles: 'gateway' })
    const there = await scene.server({ ...settings, roles: 'gateway,fanout' })
    const owner = await scene.server({ ...settings, roles: 'presence' })
    return { here: here.url, there: there.url, owner: owner.url, settings }
  }

  test(
    '[C3, W1] users come, change and leave for watchers on another gateway; changes are on the topic in order',
    async () => {
      const { here, there } = await start()
      const alice = await scene.person(there, 'alice')
      await watch(alice, ['bob'])
      const bob = await scene.person(here, 'bob')
      await alice.sees('bob', isOnline)
      const said = await call<OwnPresence>(there, 'dev:bob', 'PUT', '/api/v1/presence/status', {
        text: 'lunch',
      })
      expect([said.status, said.body.custom_status?.text]).toEqual([200, 'lunch'])
      await alice.sees('bob', ({ custom_status }) => custom_status?.text === 'lunch')
      bob.be('idle')
      await alice.sees('bob', isAway)
      bob.send({ type: 'leave' })
      await alice.sees('bob', isOffline)

      const changes = await readAll<StatusChangedRecord>(await services().openTopic(CHANGES_TOPIC))
      const ofBob = () => changes.values.filter(({ user_id }) => user_id === 'bob')
      await until(WAIT_MS, 'the changes of bob', async () =>
        ofBob().some(({ new_status }) => new_status === 'offline'),
      )
      expect(ofBob().map((one) => [one.old_status, one.new_status, one.custom_status?.text ?? null])).toEqual(
        [
          ['offline', 'online', null],
          ['online', 'online', 'lunch'],
          ['online', 'away', 'lunch'],
          ['away', 'offline', 'lunch'],
        ],
      )
      const versions = ofBob().map(({ version }) => version)
      expect(versions).toEqual([...versions].sort((a, b) => a - b))

      const updates = await readAll<SessionRecord>(await services().openTopic(UPDATES_TOPIC))
      const types = () => updates.values.filter(({ user_id }) => user_id === 'bob').map(({ type }) => type)
      await until(WAIT_MS, 'the updates of bob', async () => types().includes('session_disconnected'))
      const ended = updates.values.findLast(
        ({ type, user_id }) => type === 'session_disconnected' && user_id === 'bob',
      )
      expect(ended).toMatchObject({ device_id: expect.any(String), platform: 'other' })
      expect(types().filter((type) => (type as string) !== 'user_event')).toEqual([
        'session_connected',
        'heartbeat',
        'session_disconnected',
      ])
    },
    TEST_MS_MAX,
  )

  test(
    '[C3, X5] the example consumers print what changes',
    async () => {
      const { here } = await start()
      const programs = [[process.execPath, join(EXAMPLE, 'consumer.ts')]]
      const python = await findKafkaPython()
      if (python.state === 'found') programs.push([python.python, join(EXAMPLE, 'consumer.py')])
      else console.error(`the consumer in Python is not tested: ${python.why}`)
      const path = python.state === 'found' ? { PYTHONPATH: python.packages } : {}
      const env = { PATH: process.env.PATH ?? '', KAFKA_BROKERS: services().kafka.broker, ...path }
      const printing = programs.map((cmd) => {
        const child = Bun.spawn(cmd, { env, stdout: 'pipe', stderr: 'inherit' })
        scene.onEnd(() => child.kill('SIGKILL'))
        return within(WAIT_MS, 'the changes of dave', firstLines(child.stdout, 'dave: ', 2))
      })
      await scene.person(here, 'dave')
      await call(here, 'dev:dave', 'PUT', '/api/v1/presence/status', { text: 'lunch' })
      for (const printed of printing)
        expect(await printed).toEqual(['dave: offline -> online', 'dave: online -> online "lunch"'])
    },
    TEST_MS_MAX,
  )

  test(
    '[C4] sessions of a foreign gateway come by the topic, are reported again, and end',
    async () => {
      const { here, there } = await start()
      const alice = await scene.person(there, 'alice')
      await watch(alice, ['erin', 'frank'])
      const updates = await services().openTopic(UPDATES_TOPIC)
      const say = (type: string, userId: string, rest: object = {}) => {
        const session = { gateway_id: 'chat-1', user_id: userId, device_id: 'd1', platform: 'web' }
        const text = JSON.stringify({ type, ...session, activity: 'active', at: Date.now(), ...rest })
        return updates.append([{ userId, text }])
      }
      await say('session_connected', 'erin')
      await say('heartbeat', 'frank', { activity: 'idle' })
      await alice.sees('erin', isOnline)
      await alice.sees('frank', isAway)
      await say('heartbeat', 'erin', { activity: 'idle' })
      await alice.sees('erin', isAway)
      await say('session_disconnected', 'erin')
      await alice.sees('erin', (seen) => isOffline(seen) && seen.version > 0)
      expect((await call(here, 'dev', 'GET', '/api/v1/presence/frank')).body).toMatchObject({
        status: 'away',
      })
    },
    TEST_MS_MAX,
  )

  test(
    '[C3] a record that is no record is put aside with the reason, and holds up no user',
    async () => {
      const { here } = await start()
      const updates = await services().openTopic(UPDATES_TOPIC)
      await updates.append([{ userId: 'bob', text: 'rubbish' }])
      const bob = await scene.person(here, 'bob')
      expect(bob.welcome.self.status).toBe('online')
      const dead = await readAll<{ reason: string; record: string }>(await services().openTopic(DEAD_TOPIC))
      await until(WAIT_MS, 'the dead letter', async () => dead.values.length > 0)
      expect(dead.values).toMatchObject([{ record: 'rubbish', key: 'bob', reason: 'this is no JSON' }])
    },
    TEST_MS_MAX,
  )

  test(
    '[C7] while Kafka is away connections stay and choices are refused; then everything catches up',
    async () => {
      const { here, there } = await start()
      const alice = await scene.person(there, 'alice')
      await watch(alice, ['bob', 'carol'])
      const bob = await scene.person(here, 'bob')
      const carol = await scene.person(here, 'carol')
      for (const userId of ['bob', 'carol']) await alice.sees(userId, isOnline)
      const since = alice.heard.length

      await services().kafka.kill()
      const refused = await call(here, 'dev:bob', 'PUT', '/api/v1/presence/status', { text: 'unheard' })
      expect(refused.status).toBe(503)
      carol.send({ type: 'leave' })
      bob.be('idle')
      await services().kafka.restart()
      await alice.sees('carol', isOffline, { since })
      await alice.sees('bob', isAway, { since })
      await until(WAIT_MS, 'a choice', async () => {
        const { status } = await call(here, 'dev:bob', 'PUT', '/api/v1/presence/status', { text: 'heard' })
        return status === 200
      })
      await alice.sees('bob', ({ custom_status }) => custom_status?.text === 'heard', { since })
      expect(alice.sightings('bob', since).some(({ presence }) => isOffline(presence))).toBe(false)
    },
    TEST_MS_MAX,
  )

  test(
    '[C3, S4] an owner that is killed in the midst of 10,000 updates loses none, and no visible change comes twice',
    () => killOwner(services(), scene),
    TEST_MS_MAX,
  )
})
