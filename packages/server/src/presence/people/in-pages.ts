// Reads a long list page by page. Other work gets its turn between two pages.
import type { Clock } from '../../platform/clock.ts'

const PAGE_IDS = 500

export async function* inPages(
  clock: Clock,
  read: (afterId: string, limit: number) => Promise<string[]>,
): AsyncGenerator<string[]> {
  for (let afterId = ''; ; ) {
    const ids = await read(afterId, PAGE_IDS)
    if (ids.length > 0) yield ids
    if (ids.length < PAGE_IDS) return
    afterId = ids.at(-1)!
    await clock.nextTurn()
  }
}
