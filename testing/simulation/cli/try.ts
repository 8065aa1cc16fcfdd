// Temporary.
import { storyOf } from '../../faults/random/run/story.ts'
import { planOf } from '../run/plan.ts'
import { runPlan } from '../run/run-plan.ts'

const from = Number(process.argv[2] ?? 1),
  count = Number(process.argv[3] ?? 1)
const story = process.argv.includes('story')
const faults = !process.argv.includes('nofaults')
const t0 = performance.now()
let virtual = 0,
  failed = 0,
  events = 0
const byCheck = new Map<string, number[]>()
for (let seed = from; seed < from + count; seed++) {
  const plan = planOf(seed)
  if (!faults) plan.faults = []
  const r = runPlan({ plan })
  virtual += r.virtualMs
  events += r.events
  if (r.violations.length) {
    failed++
    for (const c of new Set(r.violations.map((v) => v.check)))
      byCheck.set(c, [...(byCheck.get(c) ?? []), seed])
    if (story) {
      console.log(JSON.stringify(plan.settings))
      console.log(plan.faults.map((f) => `${f.kind} at ${f.at | 0} for ${f.forMs | 0}`).join(', '))
      for (const v of r.violations.slice(0, 3)) console.log(storyOf(r.history, v))
    } else if (failed <= 5) console.log(seed, r.violations[0]!.check, r.violations[0]!.what.slice(0, 300))
  }
  if (count === 1) console.log('hash', r.hash, 'events', r.events, 'virtual', r.virtualMs / 1000)
}
const cpu = process.cpuUsage()
const s = (cpu.user + cpu.system) / 1e6
console.log('wall', (performance.now() - t0) / 1000, 'user', cpu.user / 1e6, 'sys', cpu.system / 1e6)
console.log(
  `${count} seeds, ${failed} failed, ${(count / s).toFixed(1)}/s, ${(virtual / 3600000 / s).toFixed(2)} virtual h/s, ${(events / s) | 0} events/s`,
)
for (const [c, seeds] of byCheck) console.log(c, seeds.length, seeds.slice(0, 12).join(' '))
