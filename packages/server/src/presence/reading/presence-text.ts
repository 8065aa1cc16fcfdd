// The answer about somebody as text, made once for each record: records never change, so neither does
// what they say to those who may see everything. It goes when the record goes.
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
