// How many bytes things take on the wire, without the packets around them: a heartbeat, a welcome, a
// contact in a snapshot, a change and the frame around it; in JSON, and in the compact encoding where that is another
// size. Taken from a real server.
import {
  COMPACT_ACTIVE,
  COMPACT_CHANGE,
  COMPACT_STATE,
  HEARTBEAT_ACTIVE,
  HEARTBEAT_IDLE,
  SUBPROTOCOL_COMPACT,
  SUBPROTOCOL_JSON,
} from '@greendot/protocol'
import type { PresenceEvent } from '../../../server/src/presence/core/event.ts'
import { changeRecordOf } from '../../../server/src/presence/pipeline/change-record.ts'
import { encodeUpdate } from '../../../server/src/streaming/update-record.ts'
import type { ConstantName } from '../capacity/constant-names.ts'
import { constantReading, type Micro, type Reading } from './measure.ts'
import { type MeasuredServer, startMeasured } from './setup/servers.ts'
import { arrived, sessionOf, userName } from './setup/users.ts'

const CONTACTS = 50
const CLIENT_HEADER_BYTES = 6
const sentBytes = ({ length }: string): number => length + (length > 125 ? 4 : 2)

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
  const connected = await Promise.all(contacts.map((_, user) => connect(greendot, user, SUBPROTOCOL_JSON)))
  const json = await connect(greendot, CONTACTS, SUBPROTOCOL_JSON)
  const compact = await connect(greendot, CONTACTS + 1, SUBPROTOCOL_COMPACT)
  for (const viewer of [json, compact]) viewer.send(JSON.stringify({ type: 'watch', user_ids: contacts }))
  const welcome = await json.next('{"type":"welcome"')
  const snapshot = await json.next('{"type":"presence_state"')
  const compactSnapshot = await compact.next(COMPACT_STATE)
  connected[0]!.send(HEARTBEAT_IDLE)
  const frame = await json.next('{"type":"presence_change"')
  const compactFrame = await compact.next(COMPACT_CHANGE)
  for (const one of [json, compact, ...connected]) one.close()

  const { changes } = JSON.parse(frame) as { changes: object[] }
  const change = JSON.stringify(changes[0])
  // A frame in the short form is a letter, and then the change.
  const compactChange = compactFrame.slice(1)
  return [
    ...recordSizes(),
    bytes('welcome', 'welcome_bytes', sentBytes(welcome)),
    bytes('heartbeat', 'beat_bytes', HEARTBEAT_ACTIVE.length + CLIENT_HEADER_BYTES),
    bytes('heartbeat, compact', 'compact_beat_bytes', COMPACT_ACTIVE.length + CLIENT_HEADER_BYTES),
    bytes('contact in a snapshot', 'state_bytes', sentBytes(snapshot) / CONTACTS),
    bytes('contact in a snapshot, compact', 'compact_state_bytes', sentBytes(compactSnapshot) / CONTACTS),
    bytes('change', 'change_bytes', change.length),
    bytes('change, compact', 'compact_change_bytes', compactChange.length),
    bytes('frame around changes', 'frame_bytes', sentBytes(frame) - change.length),
    bytes(
      'frame around changes, compact',
      'compact_frame_bytes',
      sentBytes(compactFrame) - compactChange.length,
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

async function connect({ port, tokenOf }: MeasuredServer, user: number, subprotocol: string) {
  const url = `ws://127.0.0.1:${port}/api/v1/ws?token=${tokenOf(user)}&device_id=laptop`
  const socket = new WebSocket(url, subprotocol)
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
    /** The first frame that begins like this, also when it came before. */
    async next(beginning: string): Promise<string> {
      for (;;) {
        const found = received.find((frame) => frame.startsWith(beginning))
        if (found !== undefined) return found
        await new Promise<void>((resolve) => {
          onReceived = resolve
        })
      }
    },
  }
}
