// The privacy of many people in the SQL archive. One person's lists may be a quarter of a megabyte,
// so texts are taken from the database by their size, and never more at once than is quickly read.
import type { PrivacySetting } from '../../presence/core/privacy.ts'
import type { SqlDatabase } from './database.ts'
import { fromPrivacyText } from './privacy-text.ts'
import { type PrivacyRow, toPrivacy } from './rows.ts'
import { inSlices, type SliceLimits } from './slices.ts'
import type { SqlStatements } from './statements.ts'

/** Whose privacy is how long. */
export interface PrivacySize {
  user_id: string
  bytes: number
}

const PEOPLE_PER_LOOK = 1000

const TOGETHER: SliceLimits<PrivacySize> = {
  itemsMax: PEOPLE_PER_LOOK,
  size: { max: 512 * 1024, of: ({ bytes }) => bytes },
}

export function createSqlPrivacy(database: SqlDatabase, sql: SqlStatements) {
  const { pause } = database

  return {
    /** Without those who have been erased meanwhile. */
    async readAll(sizes: readonly PrivacySize[]): Promise<Map<string, PrivacySetting>> {
      const found = new Map<string, PrivacySetting>()
      await inSlices(sizes, TOGETHER, pause, async (slice) => {
        const ids = slice.map((size) => size.user_id)
        for (const row of await database.read<PrivacyRow>(sql.readPrivacy, [JSON.stringify(ids)])) {
          found.set(row.user_id, toPrivacy(row.privacy, row.set_at))
        }
      })
      return found
    },

    async namedBy(userId: string, afterId: string, limit: number): Promise<string[]> {
      // Whoever has these letters in their lists may name the person; the parsed lists decide.
      const quoted = JSON.stringify(userId)
      const found: string[] = []
      let lookedUpTo = afterId
      let isLast = false
      while (!isLast && found.length < limit) {
        const sizes = await database.read<PrivacySize>(sql.privacySizes, [lookedUpTo, PEOPLE_PER_LOOK])
        await inSlices(sizes, TOGETHER, pause, async (slice) => {
          const upTo = slice.at(-1)!.user_id
          const rows = await database.read<PrivacyRow>(sql.privacyContaining, [lookedUpTo, upTo, quoted])
          found.push(...rows.filter((row) => names(row, userId)).map((row) => row.user_id))
          lookedUpTo = upTo
        })
        isLast = sizes.length < PEOPLE_PER_LOOK
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
