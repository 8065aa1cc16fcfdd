// The measurements with bounds. Each runs in a child process, which is this file again with the name of the
// group: the heap that an earlier measurement left would lengthen the blocks of the next.
import type { BoundGroup, Value } from './bounds.ts'
import { contactCalls } from './contact-calls.ts'
import { contactLists } from './contact-lists.ts'
import { deadlines } from './deadlines.ts'
import { recentMap } from './recent-map.ts'

export const BOUND_GROUPS: readonly BoundGroup[] = [contactLists, contactCalls, deadlines, recentMap]

export async function runInChild({ name }: BoundGroup): Promise<Value[]> {
  const child = Bun.spawn([process.execPath, import.meta.path, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const printed = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`the measurement ${name} failed`)
  return JSON.parse(printed) as Value[]
}

if (import.meta.main) {
  const group = BOUND_GROUPS.find(({ name }) => name === process.argv[2])
  console.log(JSON.stringify(await group!.run()))
  process.exit(0)
}
