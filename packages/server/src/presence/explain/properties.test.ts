// Explanations of random histories, choices and viewers (S7): the answer is what the viewer gets, the
// sentences claim nothing that is not so, and what is announced comes true when the clock gets there.
import { expect, test } from 'bun:test'
import { AUDIENCES, LAST_SEEN_PRECISIONS } from '@greendot/protocol'
import fc from 'fast-check'
import { FAR_MS, histories } from '../../../../../testing/presence-histories.ts'
import { deepFreeze, everyRecord, holds } from '../../../../../testing/presence-properties.ts'
import { nextDeadline, step } from '../core/machine.ts'
import type { Privacy } from '../core/privacy.ts'
import { toPresence } from '../core/view.ts'
import { asSeen } from '../privacy/as-seen.ts'
import { type Person, relevantRelation, type Viewer, visibleTo } from '../privacy/visibility.ts'
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

type Scene = ExplainInput & { record: NonNullable<ExplainInput['record']> }

/** One instant of a history, on time or with deadlines still waiting, and somebody who looks. */
const scenes: fc.Arbitrary<Scene> = fc
  .record({
    history: histories(),
    moment: fc.nat(1_000),
    // Mostly punctual; sometimes the sweeper is late, or our clock is a little behind.
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
    const people: Record<string, Person> = {
      alice: { userId: 'alice', privacy: ofAlice },
      bob: { userId: 'bob', privacy: ofBob },
    }
    return deepFreeze({
      userId: 'bob',
      record: { ...record, privacy: ofBob && { ...ofBob, setAt: at } },
      viewer: who === 'anyone' || who === 'app' ? who : people[who]!,
      relation,
      rules,
      policy: history.policy,
      now: Math.max(0, at + lateMs),
    })
  })

const RUNS = 2_000
const viewerOf = ({ viewer }: Scene): Viewer => (typeof viewer === 'string' ? null : viewer)

test('[S7] the answer is what the viewer gets, and all of it survives JSON', () => {
  holds(
    fc.property(scenes, (scene) => {
      const { userId, record, viewer, relation, rules, now } = scene
      const target = { userId, privacy: record.privacy }
      const verdict = visibleTo(target, viewerOf(scene), relation, rules)
      const level = viewer === 'app' ? 'everything' : verdict.level
      const explanation = explain(scene)
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

test('[S7] the last sentence says the answer, and every sentence is one', () => {
  holds(
    fc.property(scenes, (scene) => {
      const { answer, because } = explain(scene)
      const whom = viewerOf(scene)?.userId === 'bob' ? 'themself' : 'bob'
      const seen = answer.status === null ? 'no status of bob at all' : `${whom} as ${answer.status}`
      expect(because.at(-1)).toMatch(new RegExp(`^So .+ sees ${seen}[.,]`))
      for (const sentence of because) expect(sentence).not.toMatch(/undefined|null|NaN|Invalid|\[object|\.\./)
      expect(new Set(because).size).toBe(because.length)
    }),
    RUNS,
  )
})

test('[S7] what is said of lists, audiences and contacts is so', () => {
  holds(
    fc.property(scenes, (scene) => {
      const { record, viewer, relation } = scene
      const { because, details } = explain(scene)
      const says = (words: string) => because.some((sentence) => sentence.includes(words))
      if (says("is in bob's contact list")) expect(relation.viewerIsContact).toBe(true)
      if (says("is not in bob's contact list"))
        expect(relation.viewerIsContact && viewer !== 'anyone').toBe(false)
      if (says("is not in alice's contact list")) expect(relation.targetIsContact).toBe(false)
      if (says("alice is on bob's deny list")) expect(record.privacy?.deny).toContain('alice')
      if (says("alice is on bob's allow list")) expect(record.privacy?.allow).toContain('alice')
      if (says("bob is on alice's deny list")) expect(viewerOf(scene)?.privacy?.deny).toContain('bob')
      if (says('bob shows the status to nobody')) expect(details.privacy.status_visibility).toBe('nobody')
      if (says('bob shows the last seen to nobody'))
        expect(details.privacy.last_seen_visibility).toBe('nobody')
      if (says('in return') || says('who show theirs')) expect(record.privacy?.reciprocal).toBe(true)
    }),
    RUNS,
  )
})

test('[S7] nothing is blamed on a relation that makes no difference, and need not have been looked up', () => {
  holds(
    fc.property(scenes, (scene) => {
      const { userId, record, relation, rules } = scene
      const needed = relevantRelation({ userId, privacy: record.privacy }, viewerOf(scene), rules)
      const lookedUp = {
        viewerIsContact: needed.viewerIsContact && relation.viewerIsContact,
        targetIsContact: needed.targetIsContact && relation.targetIsContact,
      }
      expect(explain({ ...scene, relation: lookedUp })).toEqual(explain(scene))
    }),
    RUNS,
  )
})

test('[S7] what is pending comes at its instant and not before; where nothing is, nothing comes', () => {
  holds(
    fc.property(scenes, (scene) => {
      const { record, policy } = scene
      const { pending, next_deadline_at: nextAt, shown } = explain(scene).details
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
    fc.property(scenes, (scene) => {
      const { because, details } = explain(scene)
      const { next_deadline_at: nextAt } = details
      const about = because.filter((sentence) => /deadline|waits for the next sweep/.test(sentence))
      expect(about).toHaveLength(1)
      if (nextAt === null) expect(about).toEqual(['No deadline is set.'])
      else expect(about[0]).toMatch(new RegExp(`${new Date(nextAt).toISOString()}.*: \\w.+\\.$`))
    }),
    RUNS,
  )
})

test('[S7] while no deadline waits, votes, delays and choices account for what is shown', () => {
  holds(
    fc.property(scenes, (scene) => {
      const { because, details } = explain(scene)
      const { next_deadline_at: nextAt, raw_status: raw, here, availability, shown, sessions } = details
      if (nextAt !== null && nextAt <= scene.now) return
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
