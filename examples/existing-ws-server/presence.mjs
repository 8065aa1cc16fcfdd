// Reports the sessions of this server to Greendot, in batches: who is connected, who is active, and who has gone since the
// last batch. If this process dies, its batches stop, and Greendot shows its users as offline by itself.

/** A batch has at most 10,000 entries and 1 MiB. */
const ENTRIES_MAX = 5_000

export function startPresence({ url, serverKey, gatewayId, reportEveryMs, idleAfterMs }) {
  /** Open sessions by user and device. Two tabs with one device are one session. */
  const open = new Map()
  /** Closed since the last batch. */
  let closed = new Map()
  let isReporting = false

  const keyOf = ({ user_id, device_id }) => `${user_id} ${device_id}`

  async function send(body) {
    const response = await fetch(`${url}/api/v1/heartbeats`, {
      method: 'POST',
      headers: { authorization: `Bearer ${serverKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ gateway_id: gatewayId, ...body }),
      signal: AbortSignal.timeout(10_000),
    })
    if (!response.ok) throw new Error(`Greendot answered ${response.status}: ${await response.text()}`)
    return response.json()
  }

  async function report() {
    if (isReporting) return
    isReporting = true
    const gone = closed
    closed = new Map()
    try {
      for (const disconnected of slices([...gone.values()])) await send({ disconnected })
      for (const some of slices([...open.values()])) {
        const now = Date.now()
        const sessions = some.map(({ session, activeAt }) => ({
          ...session,
          platform: 'web',
          activity: now - activeAt < idleAfterMs ? 'active' : 'idle',
        }))
        const { rejected } = await send({ sessions })
        for (const { index, code, message } of rejected) {
          if (code === 'forbidden') for (const refuse of some[index].refusals) refuse(message)
          else console.error(`${keyOf(some[index].session)} was refused: ${message}`)
        }
      }
    } catch (error) {
      console.error(`presence is not reported: ${error.message}`)
      // Again with the next batch. A session that came back meanwhile is not over.
      for (const [key, session] of gone) if (!open.has(key)) closed.set(key, session)
    } finally {
      isReporting = false
    }
  }

  setInterval(report, reportEveryMs)

  return {
    /** `onRefused` is called when the backend has disconnected the user. */
    open(session, onRefused) {
      const key = keyOf(session)
      const entry = open.get(key) ?? { session, activeAt: 0, refusals: new Set() }
      entry.activeAt = Date.now()
      entry.refusals.add(onRefused)
      open.set(key, entry)
      closed.delete(key)
      void report()
      return {
        active() {
          entry.activeAt = Date.now()
        },
        close() {
          entry.refusals.delete(onRefused)
          if (entry.refusals.size > 0) return
          open.delete(key)
          closed.set(key, session)
          void report()
        },
      }
    },
  }
}

function slices(list) {
  const count = Math.ceil(list.length / ENTRIES_MAX)
  return Array.from({ length: count }, (_, n) => list.slice(n * ENTRIES_MAX, (n + 1) * ENTRIES_MAX))
}
