// What happens a second at the busiest hour, independent of the machines: the part of the model that needs
// no constants but sizes. Contacts watch each other, so a user has as many watchers as contacts.
import { chatBytesAnHour } from './chat.ts'
import { framesPerSecond } from './interest.ts'
import type { Figure, Sheet } from './sheet.ts'
import { SIZES, wireOf } from './wire.ts'
import type { Workload } from './workload.ts'

const HOUR_SECONDS = 3600

export interface Traffic {
  online: Figure
  connections: Figure
  beats: Figure
  changes: Figure
  deliveries: Figure
  frames: Figure
  updatesPerFrame: Figure
  connects: Figure
  bytesIn: Figure
  bytesOut: Figure
  idleBytesAnHour: Figure
  busyBytesAnHour: Figure
  chatBytesAnHour: Figure
  idleShare: Figure
  busyShare: Figure
}

export function trafficOf(workload: Workload, sheet: Sheet): Traffic {
  const { users, contacts, devices, heartbeatMs, flushMs } = workload
  const { figure, constant } = sheet
  const online = figure('users online', '', () => users * workload.online)
  const connections = figure('connections', '', () => online.value * devices)
  const beats = figure('heartbeats', 'a second', () => connections.value / (heartbeatMs / 1000))
  const changes = figure('changes', 'a second', () => (online.value * workload.changes) / HOUR_SECONDS)
  const deliveries = figure(
    'deliveries',
    'a second',
    () => changes.value * contacts * workload.online * devices,
  )
  const frames = figure('frames with changes', 'a second', () => {
    const perConnection = deliveries.value / connections.value
    return connections.value * framesPerSecond(perConnection, flushMs)
  })
  const updatesPerFrame = figure('changes in a frame', '', () =>
    frames.value === 0 ? 0 : deliveries.value / frames.value,
  )
  const connects = figure(
    'connects',
    'a second',
    () => (connections.value * workload.connects) / HOUR_SECONDS,
  )

  const { sent, acknowledged, bothWays } = wireOf(sheet)
  // Own changes come back as a frame of their own: JSON, with a little more in it.
  const ownFrames = () => changes.value * devices
  const ownBytes = () => constant('frame_bytes') + constant('change_bytes')
  const size = SIZES[workload.encoding]
  const snapshotBytes = () => contacts * constant(size.state)
  const bytesIn = figure(
    'bandwidth in',
    'bytes a second',
    () =>
      beats.value * sent(constant(size.beat)) +
      frames.value * acknowledged(constant(size.frame)) +
      ownFrames() * acknowledged(ownBytes()) +
      connects.value *
        (constant('handshake_bytes') / 2 +
          acknowledged(constant('welcome_bytes')) +
          acknowledged(snapshotBytes())),
  )
  const bytesOut = figure(
    'bandwidth out',
    'bytes a second',
    () =>
      beats.value * acknowledged(constant(size.beat)) +
      frames.value * sent(constant(size.frame)) +
      deliveries.value * constant(size.change) +
      ownFrames() * sent(ownBytes()) +
      connects.value *
        (constant('handshake_bytes') / 2 + sent(constant('welcome_bytes')) + sent(snapshotBytes())),
  )
  const idleBytesAnHour = figure('bytes of an idle connection', 'an hour', () => {
    return (HOUR_SECONDS / (heartbeatMs / 1000)) * bothWays(constant(size.beat))
  })
  const busyBytesAnHour = figure(
    'bytes of a connection, all in all',
    'an hour',
    () => ((bytesIn.value + bytesOut.value) / connections.value) * HOUR_SECONDS,
  )
  const chat = chatBytesAnHour(sheet)
  // The chat counts once for a user, on whichever device; every connection has its presence.
  const shareOf = (bytes: Figure) => ((bytes.value * devices) / chat.value) * 100
  const idleShare = figure('presence in percent of that, idle', '%', () => shareOf(idleBytesAnHour))
  const busyShare = figure('presence in percent of that, all in all', '%', () => shareOf(busyBytesAnHour))
  return {
    online,
    connections,
    beats,
    changes,
    deliveries,
    frames,
    updatesPerFrame,
    connects,
    bytesIn,
    bytesOut,
    idleBytesAnHour,
    busyBytesAnHour,
    chatBytesAnHour: chat,
    idleShare,
    busyShare,
  }
}
