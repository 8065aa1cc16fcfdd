// One connection for all tabs of a browser without a worker: whoever holds a lock leads, has the hub, and
// serves the others over a channel. Locks are handed on by the browser the moment a tab is gone, crashed
// or closed, and the next leader asks everybody what they want and know. A leader that does not answer is
// asleep; the lock is taken from it, and when it wakes up it finds that it leads no more.
import type { Hub, Seat } from '../connection/hub.ts'
import type { Down, OpenUplink, Up } from '../connection/messages.ts'
import type { Runtime, Timer } from '../platform.ts'
import { holdLock } from './tab-lock.ts'

/** How long a leader may take to answer. */
const ANSWER_MS_MAX = 3_000

type Cast =
  | { type: 'who_leads' }
  | { type: 'leading'; leader: string }
  | { type: 'up'; leader: string; tab: string; message: Up }
  | { type: 'bye'; leader: string; tab: string }
  | { type: 'down'; leader: string; tab: string; message: Down }

/** `name` is that of the lock and the channel: tabs with the same one share a connection. */
export function electedUplink(runtime: Runtime, name: string, newHub: () => Hub): OpenUplink {
  return (on) => {
    const locks = runtime.locks!
    const tab = runtime.newName()
    const lockOf = (other: string) => `${name}:${other}`
    const channel = new runtime.BroadcastChannel!(name)
    const cast = (message: Cast) => channel.postMessage(message)
    const seats = new Map<string, Seat>()
    let isOpen = true
    let hub: Hub | null = null
    let resign = () => {}
    let candidacy = new AbortController()
    /** While leading, waiting for other tabs to go; aborted when somebody else leads. */
    let reign = new AbortController()
    let leader: string | null = null
    let patience: Timer | null = null

    function lead(): void | Promise<void> {
      if (!isOpen) return
      calm()
      hub = newHub()
      reign = new AbortController()
      leader = tab
      seats.set(
        tab,
        hub.seat((message) => isOpen && on.down(message)),
      )
      cast({ type: 'leading', leader })
      on.attached()
      return new Promise((resolve) => {
        resign = resolve
      })
    }

    function stepDown(): void {
      hub?.close()
      hub = null
      seats.clear()
      reign.abort()
      resign()
    }

    /** Waits in line for the lock, or takes it from whoever has it. */
    function run(options: LockOptions): void {
      locks.request(name, options, lead).catch(() => {
        // We gave up our place in the line ourselves.
        if (options.signal?.aborted) return
        // It was taken from us.
        stepDown()
        if (isOpen) stand()
      })
    }

    function stand(): void {
      candidacy.abort()
      candidacy = new AbortController()
      run({ signal: candidacy.signal })
    }

    function overthrow(): void {
      patience = null
      candidacy.abort()
      run({ steal: true })
    }

    function calm(): void {
      patience?.stop()
      patience = null
    }

    function expectAnswer(): void {
      if (!hub) patience ??= runtime.after(ANSWER_MS_MAX, overthrow)
    }

    function seatOf(other: string): Seat {
      const known = seats.get(other)
      if (known) return known
      const seat = hub!.seat((message) => cast({ type: 'down', leader: tab, tab: other, message }))
      seats.set(other, seat)
      locks.request(lockOf(other), { signal: reign.signal }, () => dismiss(other)).catch(() => {})
      return seat
    }

    function dismiss(other: string): void {
      seats.get(other)?.leave()
      seats.delete(other)
    }

    channel.onmessage = ({ data }: MessageEvent<Cast>) => {
      switch (data.type) {
        case 'who_leads':
          if (hub) cast({ type: 'leading', leader: tab })
          break
        case 'leading':
          calm()
          if (data.leader === leader) break
          // Should it be us who led until now, the news of that may still be on its way.
          if (hub) {
            stepDown()
            stand()
          }
          leader = data.leader
          on.attached()
          break
        case 'up':
          if (hub && data.leader === tab) seatOf(data.tab).receive(data.message)
          break
        case 'bye':
          if (hub && data.leader === tab) dismiss(data.tab)
          break
        case 'down':
          if (data.tab !== tab || data.leader !== leader) break
          calm()
          on.down(data.message)
      }
    }

    const release = holdLock(locks, lockOf(tab), () => {
      if (!isOpen) return
      stand()
      cast({ type: 'who_leads' })
      expectAnswer()
    })

    return {
      send(message) {
        if (hub) return seats.get(tab)?.receive(message)
        if (leader === null) return
        cast({ type: 'up', leader, tab, message })
        if (message.type === 'attach' || message.type === 'active' || message.type === 'poke') expectAnswer()
      },
      close() {
        isOpen = false
        calm()
        if (!hub && leader !== null) cast({ type: 'bye', leader, tab })
        candidacy.abort()
        stepDown()
        release()
        channel.close()
      },
    }
  }
}
