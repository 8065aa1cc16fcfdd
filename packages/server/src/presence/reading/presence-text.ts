// The JSON of a whole presence, made once for each record and kept as long as the record. Records never
// change, so neither does the JSON for viewers that see everything.
import type { PrivacyRules } from '../core/privacy.ts'
import type { UserRecord } from '../core/record.ts'
import { sourceOf, toPresence } from '../core/view.ts'

export type PresenceText = (userId: string, record: UserRecord) => string

export function createPresenceText({ hiddenAs }: PrivacyRules): PresenceText {
  const texts = new WeakMap<UserRecord, string>()
  return (userId, record) => {
    let text = texts.get(record)
    if (text === undefined) {
      text = JSON.stringify({ ...toPresence(userId, record, hiddenAs), source: sourceOf(record) })
      texts.set(record, text)
    }
    return text
  }
}
