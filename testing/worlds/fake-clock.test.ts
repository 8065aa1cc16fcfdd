import { describe, expect, test } from 'bun:test'
import { createFakeClock } from './fake-clock.ts'

const START = 1_700_000_000_000

describe('fake clock', () => {
  test('time stands still until it is moved', async () => {
    const clock = createFakeClock(START)
    let ran = false
    clock.after(0, () => {
      ran = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(clock.now()).toBe(START)
    expect(ran).toBe(false)

    await clock.advance(1_500)
    expect(clock.now()).toBe(START + 1_500)
    expect(clock.elapsed()).toBe(1_500)
    expect(ran).toBe(true)
  })

  test('timers run in the order of their instants, and at them; equal ones as they were set', async () => {
    const clock = createFakeClock(START)
    const ran: string[] = []
    const note = (name: string) => () => void ran.push(`${name}@${clock.now() - START}`)
    clock.after(30, note('c'))
    clock.after(10, note('a'))
    clock.after(20, note('b1'))
    clock.after(20, note('b2'))
    clock.after(31, note('later'))
    await clock.advance(30)
    expect(ran).toEqual(['a@10', 'b1@20', 'b2@20', 'c@30'])
    expect(clock.timerCount()).toBe(1)
  })

  test('a timer set by a timer runs in the same advance when it falls due in it', async () => {
    const clock = createFakeClock(START)
    const ran: number[] = []
    clock.after(10, () => {
      ran.push(clock.now() - START)
      clock.after(5, () => ran.push(clock.now() - START))
      clock.after(0, () => ran.push(clock.now() - START))
      clock.after(50, () => ran.push(clock.now() - START))
    })
    await clock.advance(20)
    expect(ran).toEqual([10, 10, 15])
  })

  test('promises released by one timer run on before the next timer', async () => {
    const clock = createFakeClock(START)
    const ran: string[] = []
    async function chain(): Promise<void> {
      await clock.sleep(10)
      for (let link = 0; link < 20; link++) await Promise.resolve()
      ran.push('chain')
    }
    void chain()
    clock.after(10, () => ran.push('next'))
    await clock.advance(10)
    expect(ran).toEqual(['chain', 'next'])
  })

  test('a loop of sleeps gets as many turns as the time allows', async () => {
    const clock = createFakeClock(START)
    let turns = 0
    void (async () => {
      for (;;) {
        await clock.sleep(100)
        turns += 1
      }
    })()
    await clock.advance(1_050)
    expect(turns).toBe(10)
  })

  test('an interval beats until it is stopped, also from within, and leaves nothing behind', async () => {
    const clock = createFakeClock(START)
    const beats: number[] = []
    const timer = clock.every(10, () => {
      beats.push(clock.now() - START)
      if (beats.length === 3) timer.stop()
    })
    await clock.advance(100)
    expect(beats).toEqual([10, 20, 30])
    timer.stop()
    expect(clock.timerCount()).toBe(0)
  })

  test('a stopped timer never runs, even when an equal one stops it', async () => {
    const clock = createFakeClock(START)
    let ran = false
    clock.after(10, () => timer.stop())
    const timer = clock.after(10, () => {
      ran = true
    })
    await clock.advance(20)
    expect(ran).toBe(false)
  })

  test('soon runs in order, before timers, and without time passing', async () => {
    const clock = createFakeClock(START)
    const ran: string[] = []
    clock.after(0, () => ran.push('timer'))
    clock.soon(() => {
      ran.push('first')
      clock.soon(() => ran.push('third'))
    })
    clock.soon(() => ran.push('second'))
    expect(ran).toEqual([])
    await clock.advance(0)
    expect(ran).toEqual(['first', 'second', 'third', 'timer'])
    expect(clock.now()).toBe(START)
  })

  test('nextTurn resolves in order with soon, and without time passing', async () => {
    const clock = createFakeClock(START)
    const ran: string[] = []
    clock.soon(() => ran.push('first'))
    void clock.nextTurn().then(() => ran.push('second'))
    clock.soon(() => ran.push('third'))
    await Promise.resolve()
    expect(ran).toEqual([])
    await clock.advance(0)
    expect(ran).toEqual(['first', 'second', 'third'])
    expect(clock.now()).toBe(START)
  })

  test('what a callback throws comes out of advance, and the clock still works', async () => {
    const clock = createFakeClock(START)
    clock.after(10, () => {
      throw new Error('broken timer')
    })
    await expect(clock.advance(20)).rejects.toThrow('broken timer')
    expect(clock.now()).toBe(START + 10)
    await clock.advance(5)
    expect(clock.now()).toBe(START + 15)
  })

  test('moving backwards, or twice at once, is refused', async () => {
    const clock = createFakeClock(START)
    await expect(clock.advance(-1)).rejects.toThrow(RangeError)
    await expect(clock.advance(Number.NaN)).rejects.toThrow(RangeError)
    const running = clock.advance(10)
    await expect(clock.advance(10)).rejects.toThrow('already running')
    await running
    expect(clock.now()).toBe(START + 10)
  })
})
