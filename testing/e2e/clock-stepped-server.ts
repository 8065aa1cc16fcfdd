// A program: the greendot command line on a machine whose clock is set back by an hour at SIGUSR2. Only the wall
// clock steps; monotonic time goes on, as on a real machine.
const HOUR_MS = 3_600_000
const readClock = Date.now
let setBackMs = 0

Date.now = () => readClock() - setBackMs
process.on('SIGUSR2', () => {
  setBackMs += HOUR_MS
  process.stderr.write('the clock was set back\n')
})

await import('../../packages/server/src/cli.ts')

export {}
