// Loaded into a server before its own code (`bun --preload`): each message from the parent starts a
// measurement of the event loop or ends it, and is answered when that is done.
import { watchLoop } from './event-loop.ts'

export type LoopAnswer = { state: 'watching' } | { state: 'done'; longestMs: number }

let end: (() => Promise<number>) | null = null

process.on('message', async () => {
  const answer = (answer: LoopAnswer) => process.send!(answer)
  if (end === null) {
    end = watchLoop()
    answer({ state: 'watching' })
  } else {
    const longestMs = await end()
    end = null
    answer({ state: 'done', longestMs })
  }
})
process.on('disconnect', () => process.exit(0))
