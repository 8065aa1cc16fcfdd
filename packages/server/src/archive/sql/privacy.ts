// Reads privacy settings of many users. The lists of one user may be a quarter of a megabyte, so texts are
// read in slices by their size.
import type { PrivacySetting } from '../../presence/core/privacy.ts'
import type { SqlDatabase } from './database.ts'
import { fromPrivacyText } from './privacy-text.ts'
import { type PrivacyRow, toPrivacy } from './rows.ts'
import { inSlices, type SliceLimits } from './slices.ts'
import type { SqlStatements } from './statements.ts'

export interface PrivacySize {
  user_id: string
  bytes: number
}

const USERS_PER_READ_MAX = 1000

const PER_READ: SliceLimits<PrivacySize> = {
  itemsMax: USERS_PER_READ_MAX,
  size: { max: 512 * 1024, of: ({ bytes }) => bytes },
}

export function createSqlPrivacy(database: SqlDatabase, sql: SqlStatements) {
  const { pause } = database

  return {
    /** Users erased in the meantime are left out. */
    async readAll(sizes: readonly PrivacySize[]): Promise<Map<string, PrivacySetting>> {
      const found = new Map<string, PrivacySetting>()
      await inSlices(sizes, PER_READ, pause, async (slice) => {
        const ids = slice.map((size) => size.user_id)
        for (const row of await database.read<PrivacyRow>(sql.readPrivacy, [JSON.stringify(ids)])) {
          found.set(row.user_id, toPrivacy(row.privacy, row.set_at))
        }
      })
      return found
    },

    async namedBy(userId: string, afterId: string, limit: number): Promise<string[]> {
      // A text search finds candidates; the parsed lists decide.
      const quoted = JSON.stringify(userId)
      const found: string[] = []
      let lookedUpTo = afterId
      let isLast = false
      while (!isLast && found.length < limit) {
        const sizes = await database.read<PrivacySize>(sql.privacySizes, [lookedUpTo, USERS_PER_READ_MAX])
        await inSlices(sizes, PER_READ, pause, async (slice) => {
          const upTo = slice.at(-1)!.user_id
          const rows = await database.read<PrivacyRow>(sql.privacyContaining, [lookedUpTo, upTo, quoted])
          found.push(...rows.filter((row) => names(row, userId)).map((row) => row.user_id))
          lookedUpTo = upTo
        })
        isLast = sizes.length < USERS_PER_READ_MAX
        await pause()
      }
      return found.slice(0, limit)
    },
  }
}

function names({ privacy }: PrivacyRow, userId: string): boolean {
  const { allow, deny } = fromPrivacyText(privacy)
  return allow.includes(userId) || deny.includes(userId)
}
