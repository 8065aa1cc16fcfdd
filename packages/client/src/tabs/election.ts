// One connection for all tabs without a worker: the tab that holds a lock is the leader, runs the hub, and
// serves the other tabs over a BroadcastChannel. When the leader is closed or crashes, the browser grants the
// lock to the next tab, and all tabs attach to its hub. A leader that does not answer is asleep; another tab
// steals the lock, and the old leader steps down when it wakes up.
import type { Hub, HubTab } from '../connection/hub.ts'
import type { FromHub, OpenUplink, ToHub } from '../connection/messages.ts'
import type { Runtime, Timer } from '../platform.ts'
import { holdLock } from './tab-lock.ts'

/** How long the leader may take to answer. */
const ANSWER_MS_MAX = 3_000

type ChannelMessage =
  | { type: 'who_leads' }
  | { type: 'leading'; leader: string }
  | { type: 'up'; leader: string; tab: string; message: ToHub }
  | { type: 'bye'; leader: string; tab: string }
  | { type: 'down'; leader: string; tab: string; message: FromHub }

/** `name` names the lock and the channel: tabs with the same name share a connection. */
export function electedUplink(runtime: Runtime, name: string, newHub: () => Hub): OpenUplink {
  return (on) => {
    const locks = runtime.locks!
    const tab = runtime.newName()
    const lockOf = (other: string) => `${name}:${other}`
    const channel = new runtime.BroadcastChannel!(name)
    const post = (message: ChannelMessage) => channel.postMessage(message)
    const tabs = new Map<string, HubTab>()
    let isOpen = true
    let hub: Hub | null = null
    let releaseLock = () => {}
    let queuePlace = new AbortController()
    /** Aborted when this tab stops being the leader. */
    let leadership = new AbortController()
    let leader: string | null = null
    let answerTimer: Timer | null = null

    function lead(): void | Promise<void> {
      if (!isOpen) return
      stopAnswerTimer()
      hub = newHub()
      leadership = new AbortController()
      leader = tab
      tabs.set(
        tab,
        hub.addTab((message) => isOpen && on.down(message)),
      )
      post({ type: 'leading', leader })
      on.attached()
      return new Promise((resolve) => {
        releaseLock = resolve
      })
    }

    function stepDown(): void {
      hub?.close()
      hub = null
      tabs.clear()
      leadership.abort()
      releaseLock()
    }

    /** Waits for the lock, or steals it. */
    function requestLock(options: LockOptions): void {
      locks.request(name, options, lead).catch(() => {
        // This tab gave up its place in the queue.
        if (options.signal?.aborted) return
        // Another tab stole the lock.
        stepDown()
        if (isOpen) queueForLock()
      })
    }

    function queueForLock(): void {
      queuePlace.abort()
      queuePlace = new AbortController()
      requestLock({ signal: queuePlace.signal })
    }

    function stealLock(): void {
      answerTimer = null
      queuePlace.abort()
      requestLock({ steal: true })
    }

    function stopAnswerTimer(): void {
      answerTimer?.stop()
      answerTimer = null
    }

    function expectAnswer(): void {
      if (!hub) answerTimer ??= runtime.after(ANSWER_MS_MAX, stealLock)
    }

    function tabOf(other: string): HubTab {
      const known = tabs.get(other)
      if (known) return known
      const added = hub!.addTab((message) => post({ type: 'down', leader: tab, tab: other, message }))
      tabs.set(other, added)
      locks.request(lockOf(other), { signal: leadership.signal }, () => removeTab(other)).catch(() => {})
      return added
    }

    function removeTab(other: string): void {
      tabs.get(other)?.leave()
      tabs.delete(other)
    }

    channel.onmessage = ({ data }: MessageEvent<ChannelMessage>) => {
      switch (data.type) {
        case 'who_leads':
          if (hub) post({ type: 'leading', leader: tab })
          break
        case 'leading':
          stopAnswerTimer()
          if (data.leader === leader) break
          // If this tab was the leader, the rejection of its lock may still be pending.
          if (hub) {
            stepDown()
            queueForLock()
          }
          leader = data.leader
          on.attached()
          break
        case 'up':
          if (hub && data.leader === tab) tabOf(data.tab).receive(data.message)
          break
        case 'bye':
          if (hub && data.leader === tab) removeTab(data.tab)
          break
        case 'down':
          if (data.tab !== tab || data.leader !== leader) break
          stopAnswerTimer()
          on.down(data.message)
      }
    }

    const release = holdLock(locks, lockOf(tab), () => {
      if (!isOpen) return
      queueForLock()
      post({ type: 'who_leads' })
      expectAnswer()
    })

    return {
      send(message) {
        if (hub) return tabs.get(tab)?.receive(message)
        if (leader === null) return
        post({ type: 'up', leader, tab, message })
        if (message.type === 'attach' || message.type === 'active' || message.type === 'poke') expectAnswer()
      },
      close() {
        isOpen = false
        stopAnswerTimer()
        if (!hub && leader !== null) post({ type: 'bye', leader, tab })
        queuePlace.abort()
        stepDown()
        release()
        channel.close()
      },
    }
  }
}
