import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Producer } from '@platformatic/kafka'
import { changeLogContract } from '../../../../testing/contracts/change-log.ts'
import {
  appendUntilTaken,
  type LogOnTest,
  numbered,
  oncePerUser,
  quiet,
  textOf,
  useLogs,
} from '../../../../testing/contracts/change-log-under-test.ts'
import { startDoomed } from '../../../../testing/contracts/doomed-consumer.ts'
import { newFolder, removeFolder } from '../../../../testing/services/child.ts'
import { describeWithService } from '../../../../testing/services/describe.ts'
import { findKafka, startKafka } from '../../../../testing/services/kafka.ts'
import { sendAsJava } from '../../../../testing/services/kafka-xerial.ts'
import { freePort, LOOPBACK } from '../../../../testing/services/ports.ts'
import { until, WAIT_MS } from '../../../../testing/services/within.ts'
import { systemClock } from '../platform/clock.ts'
import { createLogger } from '../platform/logger.ts'
import { type KafkaLogOptions, openKafkaLog } from './kafka.ts'

/** Longer than a busy machine may stall this process. */
const SESSION_MS = 6_000

let topics = 0

describeWithService('kafka change log', await findKafka(), startKafka, (kafka) => {
  const logs = useLogs()

  async function make(options: Partial<KafkaLogOptions> = {}): Promise<LogOnTest & { topic: string }> {
    const topic = `test-${++topics}`
    const { broker } = kafka()
    return {
      topic,
      open: () =>
        openKafkaLog({
          brokers: [broker],
          topic,
          partitions: 4,
          sessionMs: SESSION_MS,
          pauseMs: 1,
          clock: systemClock,
          logger: quiet,
          ...options,
        }),
      doom: (group) => startDoomed({ kind: 'kafka', broker, topic, sessionMs: SESSION_MS }, group),
    }
  }

  changeLogContract('kafka', {
    isShared: true,
    make: () => make(),
    makeSmall: () => make({ retentionBytes: 2 * 1024 * 1024 }),
  })

  test('[C3] users are where the clients of Kafka put them', async () => {
    const log = await logs.open(await make({ partitions: 12 }))
    const reader = await logs.read(log, 'g')
    // Hashes that the tests of Kafka itself name. Twelve, because the signs of hashes do not matter to powers of two.
    const hashes: [string, number][] = [
      ['21', -973_932_308],
      ['foobar', -790_332_482],
      ['a-little-bit-long-string', -985_981_536],
      ['a-little-bit-longer-string', -1_486_304_829],
      ['abc', 479_470_107],
    ]
    await log.append(hashes.map(([userId]) => ({ userId, text: '{}' })))
    const taken = await reader.first(hashes.length)
    for (const [userId, hash] of hashes) {
      expect(taken.find((entry) => entry.userId === userId)?.partition).toBe((hash & 0x7fffffff) % 12)
    }
  })

  test('[C3] processes that start at the same time may all find the topic missing', async () => {
    const on = await make()
    const opened = await Promise.all(Array.from({ length: 6 }, () => logs.open(on)))
    expect(opened.map(({ partitionCount }) => partitionCount)).toEqual(Array(6).fill(4))
  })

  test('[C3] records of foreign producers come as they are', async () => {
    const on = await make({ partitions: 1 })
    const log = await logs.open(on)
    const foreign = new Producer({ clientId: 'foreign', bootstrapBrokers: [kafka().broker] })
    const { topic } = on
    await foreign.send({
      messages: [
        { topic, partition: 0, value: Buffer.from('no key') },
        { topic, partition: 0, key: Buffer.from('a'), value: Buffer.alloc(0) },
        { topic, partition: 0, key: Buffer.from([0xff, 0x00]), value: Buffer.from([0x00, 0xff, 0x41]) },
        { topic, partition: 0, key: Buffer.from('gone') },
        { topic, partition: 0, key: Buffer.from('b'), value: Buffer.from('{"last":true}') },
      ],
      acks: -1,
    })
    await foreign.close()
    const reader = await logs.read(log, 'g')
    const taken = await reader.first(5)
    expect(taken.map(({ userId, text }) => [userId, text])).toEqual([
      [null, 'no key'],
      ['a', ''],
      ['\ufffd\u0000', '\u0000\ufffdA'],
      ['gone', ''],
      ['b', '{"last":true}'],
    ])
  })

  test('[C3, C7] records that a Java producer compressed with snappy hold up no partition', async () => {
    const on = await make({ partitions: 1 })
    const log = await logs.open(on)
    const value = Buffer.from('{"of":"java"}'.repeat(100))
    await sendAsJava(kafka().broker, [{ topic: on.topic, partition: 0, key: Buffer.from('a'), value }])
    await log.append([{ userId: 'a', text: '{"after":true}' }])
    const reader = await logs.read(log, 'g')
    const taken = await reader.first(2)
    expect(taken.map(({ text }) => text)).toEqual([value.toString(), '{"after":true}'])
  })

  test('[C7] while Kafka is away append rejects; then it works and the consumer goes on', async () => {
    const lines: string[] = []
    const logger = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } })
    const { log, reader } = await logs.running(await make({ appendMs: 1_000, logger }), 2)
    await kafka().kill()
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(log.append(numbered('a', 1, 100))).rejects.toThrow('kafka')
    }
    await kafka().restart()
    await appendUntilTaken(log, 2)
    await reader.saw(textOf('a', 2))
    expect(oncePerUser(reader.all(), 'a').filter((text) => text !== textOf('a', 100))).toEqual(
      numbered('a', 3).map(({ text }) => text),
    )
    // One line of each, however many attempts there were.
    const said = lines.map((line) => JSON.parse(line)).filter(({ part }) => part === 'append')
    expect(said.map(({ msg }) => msg)).toEqual(['kafka is away', 'kafka is back'])
  })

  test('[C7] a frozen Kafka does not hold an append for long, and the consumer goes on when it is back', async () => {
    const { log, reader } = await logs.running(await make({ appendMs: 500 }), 1)
    kafka().freeze()
    // The system stops its threads one after the other, so the first may still be taken.
    await until(WAIT_MS, 'a refusal', () =>
      log.append(numbered('a', 1, 100)).then(
        () => false,
        (error: Error) => error.message.includes('kafka'),
      ),
    )
    kafka().thaw()
    await appendUntilTaken(log, 1)
    await reader.saw(textOf('a', 1))
  })
})

test('[X9] the library needs no file beside a bundle', async () => {
  const folder = newFolder('bundle')
  try {
    await Bun.build({
      entrypoints: [join(import.meta.dir, 'kafka-clients.ts')],
      outdir: folder,
      target: 'bun',
    })
    const { loadKafka } = (await import(
      join(folder, 'kafka-clients.js')
    )) as typeof import('./kafka-clients.ts')
    const { crc32c } = await loadKafka()
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283)
  } finally {
    removeFolder(folder)
  }
})

test('[C7] a Kafka that is not there is named', async () => {
  const broker = `${LOOPBACK}:${await freePort()}`
  const opening = openKafkaLog({ brokers: [broker], topic: 'x', clock: systemClock, logger: quiet })
  await expect(opening).rejects.toThrow(`Kafka at ${broker} cannot be used`)
})
