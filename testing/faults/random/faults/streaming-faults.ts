// Faults of Kafka and of the processes that own users.
import type { Kafka } from '../../../services/kafka.ts'
import type { Servers } from '../deployment/servers.ts'
import { KAFKA_SESSION_MS } from '../deployment/times.ts'
import type { PlannedFault } from '../plan/plan-faults.ts'

/** Updates go through Kafka, and these processes own users. */
export interface Streaming {
  kafka: Kafka
  owners: Servers
}

export async function breakStreaming(
  { kind, forMs, which }: PlannedFault,
  { kafka, owners }: Streaming,
): Promise<void> {
  switch (kind) {
    case 'kafka stopped':
    case 'kafka killed':
      await kafka.kill(kind === 'kafka killed' ? 'SIGKILL' : 'SIGTERM')
      await Bun.sleep(forMs)
      return kafka.restart()
    case 'kafka frozen':
      kafka.freeze()
      // Every other time for longer than consumers wait for it.
      await Bun.sleep(which % 2 === 0 ? forMs : forMs + KAFKA_SESSION_MS)
      return kafka.thaw()
    case 'owner killed': {
      const place = which % owners.count
      await owners.kill(place)
      await Bun.sleep(forMs)
      return owners.start(place)
    }
    default:
      throw new Error(`${kind} is no fault of the streaming deployment`)
  }
}
