// Bugs in what a process has of the store, the bus and the log.
import type { HotState } from '../../../packages/server/src/adapters.ts'
import type { Bus, BusMessage } from '../../../packages/server/src/bus/port.ts'
import type { ChangeLog } from '../../../packages/server/src/log/port.ts'
import type { Commit, PresenceStore } from '../../../packages/server/src/store/port.ts'
import type { Planting } from '../world/ground.ts'
import type { Planted } from './planting.ts'

const inStore = (change: (store: PresenceStore) => Partial<PresenceStore>): Planting => ({
  hot: (hot) => ({ ...hot, store: { ...hot.store, ...change(hot.store) } }),
})

const inCommits = (change: (commit: Commit) => Commit): Planting =>
  inStore(({ commit }) => ({ commit: (commits) => commit(commits.map(change)) }))

const inBus = (change: (bus: Bus, hot: HotState) => Partial<Bus>): Planting => ({
  hot: (hot) => ({ ...hot, bus: { ...hot.bus, ...change(hot.bus, hot) } }),
})

const inMessages = (change: (message: BusMessage) => BusMessage[]): Planting =>
  inBus(({ publish }) => ({ publish: (gatewayId, messages) => publish(gatewayId, messages.flatMap(change)) }))

const inLog = (change: (log: ChangeLog) => Partial<ChangeLog>): Planting => ({
  hot: (hot) => ({ ...hot, log: hot.log && { ...hot.log, ...change(hot.log) } }),
})

function everyNth(count: number): () => boolean {
  let calls = 0
  return () => ++calls % count === 0
}

const roundedDown = (at: number): number => Math.floor(at / 2_000) * 2_000

export const IN_STORE: readonly Planted[] = [
  {
    name: 'a version is taken from the memory of the process',
    breaks: 'B3, B4',
    plant() {
      const versions = new Map<string, number>()
      return inCommits((commit) => {
        const { userId, record } = commit
        const known = versions.get(userId)
        const version = known === undefined ? record.version : Math.min(record.version, known + 1)
        versions.set(userId, version)
        return { ...commit, record: { ...record, version } }
      })
    },
  },
  {
    name: 'what a settling shard does not know is believed',
    breaks: 'B2',
    isRare: true,
    plant: () => inStore(() => ({ settlesAt: () => 0 })),
  },
  {
    name: 'the users of a lost gateway are not found',
    breaks: 'B1',
    plant: () => inStore(() => ({ usersOf: async () => [] })),
  },
  {
    name: 'the deadlines of one shard are not swept',
    breaks: 'B1',
    plant: () =>
      inStore(({ due }) => ({
        due: async (shard, now, limit) => (shard === 0 ? [] : due(shard, now, limit)),
      })),
  },
  {
    name: 'open duties are not looked for',
    breaks: 'B3, B6',
    isRare: true,
    plant: () => inStore(() => ({ openDuties: async () => [] })),
  },
  {
    name: 'interest is never given up',
    breaks: 'B7',
    plant: () => inStore(() => ({ removeInterest: async () => {} })),
  },
  {
    name: 'records of users who are gone are never forgotten',
    breaks: 'B7',
    plant: () => inStore(() => ({ forget: async () => 0 })),
  },
  {
    name: 'a lost gateway is never dropped',
    breaks: 'B7',
    plant: () => inStore(() => ({ dropGateway: async () => {} })),
  },
  {
    name: 'the end of a lease is rounded down to two seconds',
    breaks: 'B2',
    plant: () =>
      inStore(({ openLease, renewLease }) => ({
        openLease: (name, until) => openLease(name, roundedDown(until)),
        renewLease: (name, until) => renewLease(name, roundedDown(until)),
      })),
  },
  {
    name: 'a gateway that ends waits for ever until its lease is given up',
    breaks: 'B7',
    plant: () => inStore(() => ({ retireGateway: () => new Promise(() => {}) })),
  },
  {
    name: 'processes go by their own clocks',
    breaks: 'B1, B2',
    plant: () => inStore(() => ({ time: async () => null })),
  },
  {
    name: 'interest is registered a second after the state was read',
    breaks: 'B1, B3',
    plant: () => ({
      hot: (hot, clock) => {
        const { addInterest } = hot.store
        const later: PresenceStore['addInterest'] = async (gatewayId, userIds) =>
          void clock.after(1_000, () => void addInterest(gatewayId, userIds).catch(() => {}))
        return { ...hot, store: { ...hot.store, addInterest: later } }
      },
    }),
  },
]

export const IN_MESSAGES: readonly Planted[] = [
  {
    name: 'one of thirty publications is lost, and no gap is told',
    breaks: 'B1, B3',
    plant() {
      const isLost = everyNth(30)
      return inBus(({ publish }) => ({
        publish: async (gatewayId, messages) => {
          return isLost() || (await publish(gatewayId, messages))
        },
      }))
    },
  },
  {
    name: 'a subscription that broke tells of no gap',
    breaks: 'B1, B3',
    isRare: true,
    plant: () =>
      inBus(({ subscribe }) => ({ subscribe: (gatewayId, receive) => subscribe(gatewayId, receive) })),
  },
  {
    name: 'a duty is cleared before its publication',
    breaks: 'B3',
    isRare: true,
    plant: () => ({
      hot: (hot, clock) => {
        const { publish } = hot.bus
        const later: Bus['publish'] = async (gatewayId, messages) => {
          const sent = messages.slice()
          clock.after(500, () => void publish(gatewayId, sent))
          return true
        }
        return { ...hot, bus: { ...hot.bus, publish: later } }
      },
    }),
  },
  {
    name: 'changes do not say who may see them',
    breaks: 'B8',
    plant: () =>
      inMessages((message) => (message.kind === 'change' ? [{ ...message, inputs: null }] : [message])),
  },
  {
    name: 'a message that comes again late is taken as new',
    breaks: 'B4, B3',
    plant: () => ({
      hot: (hot, clock) => {
        const { publish } = hot.bus
        const twice: Bus['publish'] = async (gatewayId, messages) => {
          const again = messages.map((one) => (one.kind === 'change' ? { ...one, version: 0 } : one))
          clock.after(3_000, () => void publish(gatewayId, again).catch(() => {}))
          return publish(gatewayId, messages)
        }
        return { ...hot, bus: { ...hot.bus, publish: twice } }
      },
    }),
  },
  {
    name: 'messages of a gateway come in another order',
    breaks: 'B4',
    plant() {
      const isHeld = everyNth(5)
      return {
        hot: (hot, clock) => {
          const { publish } = hot.bus
          const reordered: Bus['publish'] = async (gatewayId, messages) => {
            const sent = messages.map((message) =>
              message.kind === 'change' ? { ...message, version: 0 } : message,
            )
            if (!isHeld()) return publish(gatewayId, messages)
            clock.after(300, () => void publish(gatewayId, sent))
            return true
          }
          return { ...hot, bus: { ...hot.bus, publish: reordered } }
        },
      }
    },
  },
  {
    name: 'records of the log count as handled when the archive did not take them',
    breaks: 'B6',
    isRare: true,
    plant: () =>
      inLog(({ consume }) => ({
        consume: (group, start, consumer) =>
          consume(group, start, {
            ...consumer,
            handle: (partition, entries) => consumer.handle(partition, entries).catch(() => {}),
          }),
      })),
  },
]
