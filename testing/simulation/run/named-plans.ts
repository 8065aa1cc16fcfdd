// Plans that found something once, made smaller, each in a file of `named/` whose name says what was found. They are plans
// and not seeds, so that they stay what they are when other things are drawn.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type Plan, planOf } from './plan.ts'

const FOLDER = `${import.meta.dir}/named`

export interface NamedPlan {
  found: string
  plan: Plan
}

export const namedPlans = (): NamedPlan[] =>
  readdirSync(FOLDER)
    .sort()
    .map((file) => {
      const kept = JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8')) as Plan
      // A setting that is newer than the file is drawn.
      const settings = { ...planOf(kept.seed).settings, ...kept.settings }
      return { found: file.replace('.json', '').replaceAll('-', ' '), plan: { ...kept, settings } }
    })

export const keepPlan = (name: string, plan: Plan): void =>
  writeFileSync(`${FOLDER}/${name.replaceAll(' ', '-')}.json`, `${JSON.stringify(plan)}\n`)
