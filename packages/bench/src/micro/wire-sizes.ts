// How many bytes things take on the wire, without the packets around them: a heartbeat, a welcome, a
// contact in a snapshot, a change and the frame around it. Taken from a real server.
import { HEARTBEAT_ACTIVE, HEARTBEAT_IDLE } from '@greendot/protocol'
import type { PresenceEvent } from '../../../server/src/presence/core/event.ts'
import { changeRecordOf } from '../../../server/src/presence/pipeline/change-record.ts'
import { encodeUpdate } from '../../../server/src/streaming/update-record.ts'
import type { ConstantName } from '../capacity/constant-names.ts'
import { constantReading, type Micro, type Reading } from './measure.ts'
import { type MeasuredServer, startMeasured } from './setup/servers.ts'
import { arrived, sessionOf, userName } from './setup/users.ts'

const CONTACTS = 50
const CLIENT_HEADER_BYTES = 6
const serverHeaderBytes = (payloadBytes: number): number => (payloadBytes > 125 ? 4 : 2)

export const wireSizes: Micro = {
  name: 'wire',
  about: 'bytes of frames, without the packets around them',
  missing: () => null,
  async run() {
    const greendot = await startMeasured()
    try {
      return await measure(greendot)
    } finally {
      await greendot.stop()
    }
  },
}

async function measure(greendot: MeasuredServer): Promise<Reading[]> {
  const contacts = Array.from({ length: CONTACTS }, (_, user) => userName(user))
  const connected = await Promise.all(contacts.map((_, user) => connect(greendot, user)))
  const viewer = await connect(greendot, CONTACTS)
  const welcome = await viewer.next('welcome')
  viewer.send(JSON.stringify({ type: 'watch', user_ids: contacts }))
  const snapshot = await viewer.next('presence_state')
  connected[0]!.send(HEARTBEAT_IDLE)
  const frame = await viewer.next('presence_change')
  for (const one of [viewer, ...connected]) one.close()

  const { states } = JSON.parse(snapshot) as { states: object[] }
  const { changes } = JSON.parse(frame) as { changes: object[] }
  const changeBytes = JSON.stringify(changes[0]).length
  return [
    ...recordSizes(),
    bytes('heartbeat', 'beat_bytes', HEARTBEAT_ACTIVE.length + CLIENT_HEADER_BYTES),
    bytes('welcome', 'welcome_bytes', welcome.length + serverHeaderBytes(welcome.length)),
    bytes(
      'contact in a snapshot',
      'state_bytes',
      (snapshot.length + serverHeaderBytes(snapshot.length)) / states.length,
    ),
    bytes('change', 'change_bytes', changeBytes),
    bytes(
      'frame around changes',
      'frame_bytes',
      frame.length - changeBytes + serverHeaderBytes(frame.length),
    ),
  ]
}

/** Records of the topics with their keys, without what Kafka puts around a batch. */
function recordSizes(): Reading[] {
  const [userId, at] = [userName(CONTACTS), 1_763_308_800_000]
  const event: PresenceEvent = { type: 'idle', activity: 'idle', at, ...sessionOf(CONTACTS, at) }
  const update = {
    userId,
    from: 'a-0123456789abcdef',
    events: [event],
    isRepeated: false,
    ref: null,
    sentAt: at,
  }
  const [before, after] = [arrived(CONTACTS, 'active'), arrived(CONTACTS, 'idle')]
  const change = changeRecordOf({ userId, before, after: { ...after, version: before.version + 1 } }, at)
  return [
    bytes('record of an update', 'kafka_event_bytes', userId.length + encodeUpdate(update).length),
    bytes('record of a change', 'kafka_change_bytes', userId.length + change!.length),
  ]
}

const bytes = (name: string, constant: ConstantName, value: number): Reading =>
  constantReading(name, 'bytes', value, constant)

async function connect({ port, tokenOf }: MeasuredServer, user: number) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/v1/ws?token=${tokenOf(user)}&device_id=laptop`)
  const received: string[] = []
  let onReceived = () => {}
  socket.onmessage = ({ data }) => {
    received.push(String(data))
    onReceived()
  }
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error('the server does not let us in'))
  })
  return {
    send: (text: string) => socket.send(text),
    close: () => socket.close(),
    async next(type: string): Promise<string> {
      for (;;) {
        const found = received.find((frame) => frame.startsWith(`{"type":"${type}"`))
        if (found !== undefined) return found
        await new Promise<void>((resolve) => {
          onReceived = resolve
        })
      }
    },
  }
}
