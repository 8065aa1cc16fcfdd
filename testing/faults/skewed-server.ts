// A program: a greendot process whose clock is wrong. The first argument is by how many milliseconds it is
// ahead, the others are flags as on the command line.
import { start } from '../../packages/server/src/compose.ts'
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { loadConfig } from '../../packages/server/src/platform/config/config.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'

const [skew, ...argv] = process.argv.slice(2)
const skewMs = Number(skew)
const loaded = loadConfig({ argv, env: {}, readFile: () => null })
if (!loaded.ok) throw new Error(loaded.problem)
const running = await start(loaded.config, {
  logger: createLogger({ level: loaded.config.logLevel }),
  clock: { ...systemClock, now: () => systemClock.now() + skewMs },
})
process.on('SIGTERM', () => void running.stop('SIGTERM').then(() => process.exit(0)))
console.log(`greendot ready ${running.url}`)
