// Choices that were acknowledged are not lost: they are in the archive, and every server answers them. What was
// refused or not answered may hold or not.
import { SQL } from 'bun'
import { request } from '../clients/requests.ts'
import type { Servers } from '../deployment/servers.ts'
import type { Field, History } from '../history/history.ts'
import { possibleChoices } from '../history/possible-choices.ts'
import type { Violation } from './violation.ts'

const CHECK_EVERY_MS = 500

export async function checkKeptChoices(
  history: History,
  servers: Servers,
  databaseUrl: string,
  until: number,
): Promise<Violation[]> {
  while (true) {
    const lost = [...(await lostInArchive(history, databaseUrl)), ...(await lostInServers(history, servers))]
    if (lost.length === 0 || performance.now() > until) return lost
    await Bun.sleep(CHECK_EVERY_MS)
  }
}

function lostOf(history: History, id: string, field: Field, held: string, where: string): Violation[] {
  const at = performance.now()
  const possible = possibleChoices(history.targets.get(id)!, field, at, at)
  if (possible.has(held)) return []
  const what = `${where} has ${field} "${held}" of ${id}; acknowledged was "${[...possible].join('" or "')}"`
  return [{ check: 'choice', at, target: id, what }]
}

async function lostInArchive(history: History, databaseUrl: string): Promise<Violation[]> {
  const sql = new SQL(databaseUrl, { max: 1 })
  try {
    const rows = await sql.unsafe<
      { user_id: string; availability: string | null; custom_text: string | null }[]
    >('SELECT user_id, availability, custom_text FROM user_settings')
    const byId = new Map(rows.map((row) => [row.user_id, row]))
    return [...history.targets.keys()].flatMap((id) => {
      const { availability = null, custom_text = null } = byId.get(id) ?? {}
      return [
        ...lostOf(history, id, 'availability', availability ?? 'auto', 'the archive'),
        ...lostOf(history, id, 'text', custom_text ?? '', 'the archive'),
      ]
    })
  } finally {
    await sql.close({ timeout: 0 })
  }
}

async function lostInServers(history: History, servers: Servers): Promise<Violation[]> {
  const found: Violation[] = []
  for (const { name, process } of servers.running()) {
    for (const [id, { choices }] of history.targets) {
      if (!choices.some(({ field }) => field === 'visibility')) continue
      const response = await request(`${process.url}/api/v1/users/${id}/settings`, 'GET', 'dev')
      const { status_visibility } = (await response.json()) as { status_visibility?: string }
      found.push(...lostOf(history, id, 'visibility', status_visibility ?? `error ${response.status}`, name))
    }
  }
  return found
}
