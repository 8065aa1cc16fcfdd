// Wrappers that most weakenings are made with: parts that hand on something else than they were given.
import type { Bus, BusMessage } from '../../packages/server/src/bus/port.ts'
import type { UserRecord } from '../../packages/server/src/presence/core/record.ts'
import type { Answer, Reader } from '../../packages/server/src/presence/reading/reader.ts'

/** Each message is replaced by these. */
export function editMessages(bus: Bus, edit: (message: BusMessage) => BusMessage[]): Bus {
  return { ...bus, publish: (gatewayId, messages) => bus.publish(gatewayId, messages.flatMap(edit)) }
}

/** Each record is read as this one. */
export function readingAs(reader: Reader, edit: (record: UserRecord) => UserRecord): Reader {
  const edited = async (answer: Promise<Answer>): Promise<Answer> => {
    const { records, ...rest } = await answer
    return { ...rest, records: records.map((record) => record && edit(record)) }
  }
  return {
    ...reader,
    query: (userIds, viewerId) => edited(reader.query(userIds, viewerId)),
    read: (userIds, viewerId) => edited(reader.read(userIds, viewerId)),
    readOwn: (userId) => edited(reader.readOwn(userId)),
    readAnew: (userIds) => edited(reader.readAnew(userIds)),
  }
}
