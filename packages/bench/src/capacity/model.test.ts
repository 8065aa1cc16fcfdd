import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DEFAULT_WORKLOAD } from '../../testing/default-workload.ts'
import { CONSTANT_NAMES, type ConstantName } from './constant-names.ts'
import { shippedConstants } from './constants.ts'
import { GB } from './gateways.ts'
import { type Plan, plan } from './model.ts'
import { createSheet, type Figure } from './sheet.ts'
import type { Workload } from './workload.ts'

const constants = shippedConstants()

function planned(workload: Workload): Plan {
  const made = plan(workload, constants)
  if (!made.ok) throw new Error(made.problem)
  return made.value
}

const workloads = fc
  .record({
    users: fc.integer({ min: 1, max: 200_000_000 }),
    online: fc.double({ min: 0.001, max: 1, noNaN: true }),
    contacts: fc.integer({ min: 0, max: 500 }),
    devices: fc.double({ min: 1, max: 3, noNaN: true }),
    changes: fc.double({ min: 0, max: 120, noNaN: true }),
    connects: fc.double({ min: 0, max: 30, noNaN: true }),
    queries: fc.integer({ min: 0, max: 10_000 }),
    reserve: fc.integer({ min: 0, max: 3 }),
  })
  .map((some): Workload => ({ ...DEFAULT_WORKLOAD, ...some }))

const RISING = ['users', 'contacts', 'changes', 'connects', 'online', 'devices', 'queries'] as const
const FACTORS = fc.double({ min: 1, max: 4, noNaN: true })

function more(workload: Workload, key: (typeof RISING)[number], factor: number): Workload {
  const grown = workload[key] * factor
  const isWhole = key === 'users' || key === 'contacts' || key === 'queries'
  const value = key === 'online' ? Math.min(1, grown) : isWhole ? Math.ceil(grown) : grown
  return { ...workload, [key]: value }
}

/** What costs money. */
function needs({ traffic, gateways, redis, postgres, textbook }: Plan): Record<string, number> {
  const figures: Record<string, Figure> = {
    ...traffic,
    machines: gateways.machines,
    cores: gateways.cores,
    memory: gateways.memoryBytes,
    messages: gateways.messages,
    pairs: gateways.pairs,
    masters: redis.masters,
    redisMemory: redis.memoryBytes,
    redisCores: redis.cores,
    disk: postgres.bytes,
    rowWrites: postgres.writes,
    textbookWrites: textbook.writes,
    textbookMasters: textbook.masters,
  }
  // A share, not a need: it rises and falls with what it is a share of.
  const { updatesPerFrame, busyBytesAnHour, busyShare, ...kept } = figures
  return Object.fromEntries(Object.entries(kept).map(([name, { value }]) => [name, value]))
}

/** Figures without the names of the constants that they rest on. */
const valuesOf = (part: object): string =>
  JSON.stringify(part, (key, value) => (key === 'uses' || key === 'restsOn' ? undefined : value))

describe('[C9] the capacity model', () => {
  for (const key of RISING) {
    test(`needs nothing less with more ${key}`, () => {
      fc.assert(
        fc.property(workloads, FACTORS, (workload, factor) => {
          const before = needs(planned(workload))
          const after = needs(planned(more(workload, key, factor)))
          for (const [name, value] of Object.entries(after)) {
            if (value < before[name]! * (1 - 1e-9)) throw new Error(`${name}: ${before[name]} → ${value}`)
          }
        }),
        { numRuns: 60 },
      )
    })
  }

  test('[C10] the encoding changes sizes and nothing else', () => {
    fc.assert(
      fc.property(workloads, (workload) => {
        // A network that is never the limit, or bytes would decide how many machines there are.
        const wide = { ...workload, networkGbps: 10_000 }
        const [json, compact] = (['json', 'compact'] as const).map((encoding) => {
          const { traffic, drivers, workload: _, ...others } = planned({ ...wide, encoding })
          const { bytesIn, bytesOut, idleBytesAnHour, busyBytesAnHour, idleShare, busyShare, ...counts } =
            traffic
          const bytes = [bytesIn, bytesOut, idleBytesAnHour, busyBytesAnHour, idleShare, busyShare]
          const sizes = bytes.map(({ value }) => value)
          const costs = drivers.filter(({ label }) => label !== 'traffic out')
          return { sizes, same: valuesOf({ counts, costs, others }) }
        })
        expect(compact!.same).toBe(json!.same)
        for (const [index, size] of compact!.sizes.entries())
          expect(size).toBeLessThanOrEqual(json!.sizes[index]!)
      }),
      { numRuns: 60 },
    )
  })

  test('doubles sanely: twice the users are twice the traffic, and a little more than twice the machines', () => {
    const once = { ...DEFAULT_WORKLOAD, users: 20_000_000, contacts: 100, online: 0.3 }
    const [one, two] = [planned(once), planned({ ...once, users: 2 * once.users })]
    for (const name of ['connections', 'beats', 'deliveries', 'frames', 'bytesOut'] as const) {
      expect(two.traffic[name].value / one.traffic[name].value).toBeCloseTo(2, 6)
    }
    const machines = ({ gateways }: Plan) => gateways.machines.value - once.reserve
    expect(machines(two) / machines(one)).toBeWithin(1.8, 2.4)
    // Twice as many gateways: a change meets fewer of its watchers on the same one.
    expect(two.gateways.interested.value).toBeGreaterThan(one.gateways.interested.value)
    expect(two.redis.memoryBytes.value / one.redis.memoryBytes.value).toBeWithin(2, 2.4)
  })

  test('the plan is enough, also while the reserve is down', () => {
    fc.assert(
      fc.property(workloads, (workload) => {
        const { gateways, traffic } = planned(workload)
        const { cores, memoryGb, utilisation, reserve } = workload
        const left = gateways.machines.value - reserve
        expect(left).toBeGreaterThanOrEqual(1)
        expect(gateways.processes.value).toBe(gateways.machines.value * cores)
        expect(gateways.cores.value).toBeLessThanOrEqual(left * cores * utilisation * (1 + 1e-9))
        expect(gateways.memoryBytes.value).toBeLessThanOrEqual(
          left * memoryGb * GB * utilisation * (1 + 1e-9),
        )
        const { processConnections } = workload
        expect(traffic.connections.value).toBeLessThanOrEqual(left * cores * processConnections * (1 + 1e-9))
        expect(gateways.processConnections.value).toBeLessThanOrEqual(processConnections)
      }),
    )
  })

  test('the kernel has a part of the memory, which decides over machines, too', () => {
    const idle = { ...DEFAULT_WORKLOAD, users: 10_000_000, online: 1, contacts: 18, changes: 0, connects: 0 }
    const values: Partial<Record<ConstantName, number>> = {
      connection_bytes: 4_000,
      kernel_connection_bytes: 3_000,
      watched_bytes: 1e-9,
      process_bytes: 1e-9,
    }
    const round = new Map(
      Array.from(constants, ([name, one]) => [name, { ...one, value: values[name] ?? one.value }]),
    )
    const machine = { memoryGb: 12, utilisation: 0.5, processConnections: 1_000_000 }
    const made = plan({ ...idle, heartbeatMs: 3_600_000, ...machine }, round)
    if (!made.ok) throw new Error(made.problem)
    const { gateways, drivers } = made.value
    expect(gateways.memory.kernel.value).toBe(30e9)
    expect(gateways.memoryBytes.value).toBeCloseTo(70e9, 0)
    // 70 GB at 6 GB a machine, and one in reserve. Without the kernel it would be 7 and one.
    expect([gateways.limit, gateways.machines.value]).toEqual(['memory', 12 + 1])
    const price = constants.get('memory_month_usd')!.value
    expect(drivers.find(({ label }) => label === 'connections: memory')!.value).toBeCloseTo(140 * price, 6)
  })

  test('[D9] heartbeats cost the gateways and nothing behind them', () => {
    const slow = planned({ ...DEFAULT_WORKLOAD, heartbeatMs: 60_000 })
    const fast = planned({ ...DEFAULT_WORKLOAD, heartbeatMs: 5_000 })
    expect(fast.gateways.cpu.beats.value / slow.gateways.cpu.beats.value).toBeCloseTo(12, 9)
    expect(fast.gateways.commits.value).toBe(slow.gateways.commits.value)
    expect(fast.redis.cores.value).toBe(slow.redis.cores.value)
  })

  test('one process with 200,000 connections', () => {
    const one = { cores: 1, reserve: 0, utilisation: 0.7, processConnections: 200_000 }
    const { gateways, traffic } = planned({ ...DEFAULT_WORKLOAD, ...one })
    expect([gateways.machines.value, gateways.processes.value]).toEqual([1, 1])
    expect([traffic.connections.value, gateways.processConnections.value]).toEqual([200_000, 200_000])
    const value = (name: ConstantName) => constants.get(name)!.value
    const further = (DEFAULT_WORKLOAD.contacts - value('idle_contacts')) * value('edge_bytes')
    const connection = value('connection_bytes') + further + value('kernel_connection_bytes')
    // All users are targets here, but for the few without a contact online.
    const targets = (1 - 0.8 ** DEFAULT_WORKLOAD.contacts) * DEFAULT_WORKLOAD.users * value('watched_bytes')
    const bytes = value('process_bytes') + 200_000 * connection + targets
    expect(gateways.memoryBytes.value).toBeCloseTo(bytes, 0)
    expect(gateways.cpu.beats.value).toBeCloseTo((200_000 / 15) * value('beat_cpu_us') * 1e-6, 9)
  })

  test('fails when no number of machines is enough', () => {
    const tiny = { ...DEFAULT_WORKLOAD, cores: 64, memoryGb: 1 }
    expect(plan(tiny, constants)).toEqual({ ok: false, problem: expect.stringContaining('--memory-gb') })
  })

  test('asks for four shards or more for each master, and warns when there are more masters than shards', () => {
    const few = planned({ ...DEFAULT_WORKLOAD, users: 1_000_000 })
    expect([few.redis.shards.value, few.warnings]).toEqual([64, []])
    const { redis, warnings } = planned({ ...DEFAULT_WORKLOAD, users: 500_000_000, online: 0.5 })
    const perMaster = redis.shards.value / redis.masters.value
    expect([perMaster >= 4 && perMaster < 8, warnings]).toEqual([true, []])
    const many = planned({ ...DEFAULT_WORKLOAD, users: 20_000_000_000, online: 0.5, contacts: 300 })
    expect(many.warnings).toEqual([expect.stringContaining('4096 shards')])
  })

  test('ranks what costs most first', () => {
    const { drivers } = planned({ ...DEFAULT_WORKLOAD, queries: 100 })
    const costs = drivers.map(({ value }) => value)
    expect(costs).toEqual(costs.toSorted((a, b) => b - a))
    expect(drivers.map(({ label }) => label)).toContain('queries')
  })
})

describe('[C9] figures know what they rest on', () => {
  test('by themselves and through others', () => {
    const { figure, constant } = createSheet(constants)
    const one = figure('one', '', () => constant('beat_bytes'))
    const two = figure('two', '', () => one.value + constant('tls_bytes'))
    const apart = figure('apart', '', () => 3)
    expect([two.uses, two.restsOn.toSorted()]).toEqual([['tls_bytes'], ['beat_bytes', 'tls_bytes']])
    expect([apart.uses, apart.restsOn]).toEqual([[], []])
  })

  test('a constant outside of a figure, and a figure that is no number, are mistakes', () => {
    const { figure, constant } = createSheet(constants)
    expect(() => constant('beat_bytes')).toThrow('outside')
    expect(() => figure('odd', '', () => Number.NaN)).toThrow('odd')
    expect(figure('fine', '', () => 1).value).toBe(1)
  })

  test('every constant is used by something', () => {
    const { traffic, gateways, redis, postgres, streaming, textbook, drivers } = planned(DEFAULT_WORKLOAD)
    const json = planned({ ...DEFAULT_WORKLOAD, encoding: 'json' })
    const { cpu, memory, limit, ...plainGateways } = gateways
    const figures: Figure[] = [
      ...Object.values(traffic),
      ...Object.values(json.traffic),
      ...Object.values(plainGateways),
      ...Object.values(cpu),
      ...Object.values(memory),
      ...[redis, postgres, streaming, textbook].flatMap((part): Figure[] =>
        Object.values(part).flatMap((one: Figure | Record<string, Figure>) =>
          'uses' in one && Array.isArray(one.uses)
            ? [one as Figure]
            : Object.values(one as Record<string, Figure>),
        ),
      ),
      ...drivers,
    ]
    const used = new Set(figures.flatMap(({ uses }) => uses))
    expect(CONSTANT_NAMES.filter((name) => !used.has(name))).toEqual([])
  })
})
