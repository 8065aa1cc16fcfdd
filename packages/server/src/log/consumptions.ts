// The consumptions of one log that run. A log that closes ends all of them first, so none reads from what is gone.
import type { Consumption } from './port.ts'

export interface Consumptions {
  /** The same consumption, known here until it is stopped. */
  add(consumption: Consumption): Consumption
  stopAll(): Promise<void>
}

export function createConsumptions(): Consumptions {
  const running = new Set<Consumption>()
  return {
    add(consumption) {
      running.add(consumption)
      return {
        ...consumption,
        stop() {
          running.delete(consumption)
          return consumption.stop()
        },
      }
    },
    async stopAll() {
      await Promise.all([...running].map((one) => one.stop()))
    },
  }
}
