// A producer that compresses as the one of Kafka for Java does with snappy: blocks in the framing of xerial. The library
// that Greendot uses writes and reads one bare block.
import { compressionsAlgorithms, Producer } from '@platformatic/kafka'

const MAGIC = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0])
/** The version of the framing, and the oldest one that can read it. */
const VERSIONS = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])

type Messages = Parameters<Producer['send']>[0]['messages']

export async function sendAsJava(broker: string, messages: Messages): Promise<void> {
  const { snappy } = compressionsAlgorithms
  const { compressSync } = snappy
  const framed = (data: Parameters<typeof compressSync>[0]): Buffer => {
    const block = compressSync(data)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(block.length)
    return Buffer.concat([MAGIC, VERSIONS, length, block])
  }
  Object.assign(snappy, { compressSync: framed })
  const producer = new Producer({ clientId: 'as-java', bootstrapBrokers: [broker] })
  try {
    await producer.send({ messages, compression: 'snappy', acks: -1 })
  } finally {
    Object.assign(snappy, { compressSync })
    await producer.close()
  }
}
