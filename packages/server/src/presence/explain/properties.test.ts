// Explanations of random histories, settings and viewers (S7): the answer is what the viewer gets, the sentences
// are true, and a pending status is shown at its instant.
import { expect, test } from 'bun:test'
import { AUDIENCES, LAST_SEEN_PRECISIONS } from '@greendot/protocol'
import fc from 'fast-check'
import { FAR_MS, histories } from '../../../../../testing/worlds/presence-histories.ts'
import { deepFreeze, everyRecord, holds } from '../../../../../testing/worlds/presence-properties.ts'
import { nextDeadline, step } from '../core/machine.ts'
import type { Privacy } from '../core/privacy.ts'
import { toPresence } from '../core/view.ts'
import { asSeen } from '../privacy/as-seen.ts'
import { type Party, relevantRelation, type Viewer, visibleTo } from '../privacy/visibility.ts'
import { type ExplainInput, explain } from './explain.ts'

const audience = fc.constantFrom(...AUDIENCES)
const lists = fc.uniqueArray(fc.constantFrom('alice', 'bob', 'mallory'), { maxLength: 2 })
const privacies: fc.Arbitrary<Privacy> = fc.record({
  statusVisibility: fc.option(audience),
  lastSeenVisibility: fc.option(audience),
  reciprocal: fc.boolean(),
  lastSeenPrecision: fc.constantFrom(...LAST_SEEN_PRECISIONS),
  allow: lists,
  deny: lists,
})

type Question = ExplainInput & { record: NonNullable<ExplainInput['record']> }

/** One instant of a history, on time or with deadlines still waiting, and a viewer. */
const questions: fc.Arbitrary<Question> = fc
  .record({
    history: histories(),
    moment: fc.nat(1_000),
    // Mostly on time; sometimes the sweeper is late, or the clock is a little behind.
    lateMs: fc.constantFrom(0, 0, 0, 1, -3, 6_000, FAR_MS),
    ofBob: fc.option(privacies),
    ofAlice: fc.option(privacies),
    who: fc.constantFrom('alice', 'alice', 'alice', 'bob', 'anyone', 'app'),
    relation: fc.record({ viewerIsContact: fc.boolean(), targetIsContact: fc.boolean() }),
    rules: fc.record({ defaultVisibility: audience, hiddenAs: fc.constantFrom('offline', null) }),
  })
  .map(({ history, moment, lateMs, ofBob, ofAlice, who, relation, rules }) => {
    const moments = everyRecord(history)
    const { record, at } = moments[moment % moments.length]!
    const parties: Record<string, Party> = {
      alice: { userId: 'alice', privacy: ofAlice, contactsAt: 0 },
      bob: { userId: 'bob', privacy: ofBob, contactsAt: 0 },
    }
    return deepFreeze({
      userId: 'bob',
      record: { ...record, privacy: ofBob && { ...ofBob, setAt: at } },
      viewer: who === 'anyone' || who === 'app' ? who : parties[who]!,
      relation,
      rules,
      policy: history.policy,
      now: Math.max(0, at + lateMs),
    })
  })

const RUNS = 2_000
const viewerOf = ({ viewer }: Question): Viewer => (typeof viewer === 'string' ? null : viewer)

test('[S7] the answer is what the viewer gets, and the explanation survives JSON', () => {
  holds(
    fc.property(questions, (question) => {
      const { userId, record, viewer, relation, rules, now } = question
      const target = { userId, privacy: record.privacy, contactsAt: 0 }
      const verdict = visibleTo(target, viewerOf(question), relation, rules)
      const level = viewer === 'app' ? 'everything' : verdict.level
      const explanation = explain(question)
      expect(explanation.answer).toStrictEqual(asSeen(toPresence(userId, record), level, rules, now))
      expect(explanation.details.sight).toBe(level)
      expect(explanation.details.rulings.status.visible).toBe(level !== 'nothing')
      expect(explanation.details.rulings.last_seen.visible).toBe(
        level === 'everything' || level === 'approximate',
      )
      expect(JSON.parse(JSON.stringify(explanation))).toEqual(explanation)
    }),
    RUNS,
  )
})

test('[S7] the last sentence says the answer, and every sentence is well formed', () => {
  holds(
    fc.property(questions, (question) => {
      const { answer, because } = explain(question)
      const seen = answer.status === null ? 'no status of bob' : `bob as ${answer.status}`
      expect(because.at(-1)).toMatch(new RegExp(`^So .+ sees ${seen}[.,]`))
      for (const sentence of because) expect(sentence).not.toMatch(/undefined|null|NaN|Invalid|\[object|\.\./)
      expect(new Set(because).size).toBe(because.length)
    }),
    RUNS,
  )
})

test('[S7] sentences about lists, audiences and contacts are true', () => {
  holds(
    fc.property(questions, (question) => {
      const { record, viewer, relation } = question
      const { because, details } = explain(question)
      const says = (words: string) => because.some((sentence) => sentence.includes(words))
      if (says("is in bob's contact list")) expect(relation.viewerIsContact).toBe(true)
      if (says("is not in bob's contact list"))
        expect(relation.viewerIsContact && viewer !== 'anyone').toBe(false)
      if (says("is not in alice's contact list")) expect(relation.targetIsContact).toBe(false)
      if (says("alice is on bob's deny list")) expect(record.privacy?.deny).toContain('alice')
      if (says("alice is on bob's allow list")) expect(record.privacy?.allow).toContain('alice')
      if (says("bob is on alice's deny list")) expect(viewerOf(question)?.privacy?.deny).toContain('bob')
      if (says('bob shows the status to nobody')) expect(details.privacy.status_visibility).toBe('nobody')
      if (says('bob shows last seen to nobody')) expect(details.privacy.last_seen_visibility).toBe('nobody')
      if (says('bob is reciprocal')) expect(record.privacy?.reciprocal).toBe(true)
    }),
    RUNS,
  )
})

test('[S7] no sentence depends on a relation that makes no difference', () => {
  holds(
    fc.property(questions, (question) => {
      const { userId, record, relation, rules } = question
      const needed = relevantRelation(
        { userId, privacy: record.privacy, contactsAt: 0 },
        viewerOf(question),
        rules,
      )
      const lookedUp = {
        viewerIsContact: needed.viewerIsContact && relation.viewerIsContact,
        targetIsContact: needed.targetIsContact && relation.targetIsContact,
      }
      expect(explain({ ...question, relation: lookedUp })).toEqual(explain(question))
    }),
    RUNS,
  )
})

test('[S7] a pending status is shown at its instant and not before; without one the status stays', () => {
  holds(
    fc.property(questions, (question) => {
      const { record, policy } = question
      const { pending, next_deadline_at: nextAt, shown } = explain(question).details
      expect(nextAt).toBe(nextDeadline(record, policy))
      const statusAt = (at: number) => step(record, [], at, policy).record.shown.status
      if (pending === null) {
        expect(statusAt(record.settledAt + 2 * FAR_MS)).toBe(shown.status)
      } else {
        expect(statusAt(pending.at - 1)).toBe(shown.status)
        expect(statusAt(pending.at)).toBe(pending.status)
        expect(pending.status).not.toBe(shown.status)
      }
    }),
    RUNS,
  )
})

test('[S7] the next deadline is always named, with what it ends', () => {
  holds(
    fc.property(questions, (question) => {
      const { because, details } = explain(question)
      const { next_deadline_at: nextAt } = details
      const about = because.filter((sentence) => /deadline|waits for the next sweep/.test(sentence))
      expect(about).toHaveLength(1)
      if (nextAt === null) expect(about).toEqual(['No deadline is set.'])
      else expect(about[0]).toMatch(new RegExp(`${new Date(nextAt).toISOString()}.*: \\w.+\\.$`))
    }),
    RUNS,
  )
})

test('[S7] while no deadline waits, votes, delays and settings account for what is shown', () => {
  holds(
    fc.property(questions, (question) => {
      const { because, details } = explain(question)
      const { next_deadline_at: nextAt, raw_status: raw, here, availability, shown, sessions } = details
      if (nextAt !== null && nextAt <= question.now) return
      expect(because.some((sentence) => sentence.includes('last known'))).toBe(false)
      const chosen = availability === null || availability.is_expired ? 'auto' : availability.status
      const isCounted = sessions.some(({ vote }) => vote === 'active' || vote === 'idle')
      const isOverruled = isCounted && (chosen === 'away' || chosen === 'busy')
      const accounted = here !== 'here' || chosen === 'invisible' ? 'offline' : isOverruled ? chosen : raw
      expect(shown.status).toBe(accounted)
    }),
    RUNS,
  )
})
