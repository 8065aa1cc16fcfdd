// Virtual time: order, promises between events, and processes that are frozen or crashed.
import { describe, expect, test } from 'bun:test'
import { createMachine } from './machine.ts'
import { createNetwork } from './network.ts'
import { randomOf } from './random.ts'
import { createTimeline } from './timeline.ts'

const machineOn = (timeline: ReturnType<typeof createTimeline>, skewMs = 0) =>
  createMachine({ name: 'm', timeline, random: randomOf(1, 'm'), lateMsMax: 0, skewMs, drift: 0 })

describe('a timeline', () => {
  test('[X1] runs events in order, and those of one instant as they were set', () => {
    const timeline = createTimeline(100)
    const ran: string[] = []
    for (const [at, name] of [
      [105, 'c'],
      [102, 'a'],
      [105, 'd'],
      [103, 'b'],
    ] as const)
      timeline.at(at, () => void ran.push(`${name}${timeline.now()}`))
    timeline.at(104, () => void ran.push('stopped')).stop()
    timeline.runUntil(105)
    expect(ran).toEqual(['a102', 'b103', 'c105', 'd105'])
    expect(timeline.now()).toBe(105)
  })

  test('[X1] lets every promise go on before the next event', () => {
    const timeline = createTimeline(0)
    const ran: string[] = []
    timeline.at(1, async () => {
      for (let turn = 0; turn < 5; turn++) await null
      ran.push('promise')
    })
    timeline.at(1, () => void ran.push('event'))
    timeline.runUntil(1)
    expect(ran).toEqual(['promise', 'event'])
  })

  test('[X1] finds events that never let time move on', () => {
    const timeline = createTimeline(0)
    const again = (): void => void timeline.at(timeline.now(), again)
    again()
    expect(() => timeline.runUntil(1)).toThrow('without end')
  })
})

describe('a machine', () => {
  test('[X1] that crashed runs nothing more', () => {
    const timeline = createTimeline(0)
    const machine = machineOn(timeline)
    let ran = 0
    machine.clock.after(10, () => void ran++)
    machine.clock.every(1, () => void ran++)
    timeline.runUntil(5)
    const before = ran
    machine.crash()
    timeline.runUntil(100)
    expect([before > 0, ran]).toEqual([true, before])
  })

  test('[X1] that was frozen runs what waited, in order, when it is thawed', () => {
    const timeline = createTimeline(0)
    const machine = machineOn(timeline)
    const ran: number[] = []
    machine.clock.after(10, () => void ran.push(10))
    machine.clock.after(20, () => void ran.push(20))
    machine.freeze()
    timeline.runUntil(30)
    expect(ran).toEqual([])
    machine.thaw()
    timeline.runUntil(30)
    expect(ran).toEqual([10, 20])
  })

  test('[X1] has a wall clock that can be wrong and a monotonic one that is not', () => {
    const timeline = createTimeline(1_000)
    const { clock, step } = machineOn(timeline, 500)
    timeline.runUntil(1_100)
    step(-2_000)
    expect([clock.now(), clock.elapsed()]).toEqual([-400, 100])
  })
})

test('[X1] what is sent into a cut arrives when all faults that cut it have ended', () => {
  const timeline = createTimeline(0)
  const network = createNetwork(timeline, randomOf(1, 'n'), 1)
  let arrived = 0
  const send = () => network.whenOpen('a', 'b', () => void arrived++)
  send()
  network.cut('a', 'b')
  network.cut('b', 'a')
  send()
  network.mend('a', 'b')
  timeline.runUntil(1)
  expect(arrived).toBe(1)
  network.mend('b', 'a')
  timeline.runUntil(2)
  expect(arrived).toBe(2)
})
