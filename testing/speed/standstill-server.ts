// A program of its own: a server that tells how long its event loop stood still, for tests that ask it
// over HTTP. Sends its address once it is ready; then each message begins a measurement or ends it, and
// is answered when that is done.
import { startServer } from '../server.ts'
import { watchLoop } from './standstill.ts'

export type StandstillMessage = { url: string } | { begun: true } | { longestMs: number }

const tell = (message: StandstillMessage) => process.send!(message)

const server = await startServer()
let end: (() => Promise<number>) | null = null

process.on('message', async () => {
  if (end === null) {
    end = watchLoop()
    tell({ begun: true })
  } else {
    const longestMs = await end()
    end = null
    tell({ longestMs })
  }
})
process.on('disconnect', () => void server.stop().then(() => process.exit(0)))
tell({ url: server.url })
