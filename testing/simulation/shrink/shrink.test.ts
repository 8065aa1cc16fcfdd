// A plan that fails is made as small as its failure allows.
import { expect, test } from 'bun:test'
import { type Plan, planOf } from '../run/plan.ts'
import { shrink } from './shrink.ts'

const SEED = 63

test('[X1] what the failure does not need is left out, and what it needs stays', () => {
  const whole = planOf(SEED)
  const needed = whole.faults[0]!
  const user = whole.users[1]!.id
  const isFailing = ({ faults, users }: Plan) =>
    faults.includes(needed) && users.some(({ id }) => id === user)
  const { plan } = shrink(whole, isFailing)
  expect(plan.faults).toEqual([needed])
  expect(plan.users.map(({ id }) => id)).toEqual([user])
  expect(plan.steps).toEqual([])
  expect(plan.activeMs).toBeLessThanOrEqual(whole.activeMs)
})

test('[X1] steps of the users that stay are theirs', () => {
  const whole = planOf(SEED)
  const last = whole.users.length - 1
  const theirs = whole.steps.filter((step) => step.who === 'user' && step.user === last).length
  const own = ({ steps, users }: Plan) => {
    const place = users.findIndex(({ id }) => id === whole.users[last]!.id)
    return steps.filter((step) => step.who === 'user' && step.user === place).length
  }
  const { plan } = shrink(whole, (smaller) => own(smaller) === theirs)
  expect([plan.users.length, own(plan)]).toEqual([1, theirs])
})

test('[X1] a plan that cannot be made smaller stays as it is', () => {
  const whole = planOf(SEED)
  expect(shrink(whole, () => false).plan).toBe(whole)
})
