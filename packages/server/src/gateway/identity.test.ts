// The small values that are made before the parts that share them: the gateway's name, and reports of doubt.
import { describe, expect, test } from 'bun:test'
import { createDoubts } from './doubts.ts'
import { createIdentity } from './identity.ts'

describe('the identity of a gateway', () => {
  test('[C7] keeps former names, each with the instant it was last good, until they are dropped', () => {
    const identity = createIdentity()
    const first = identity.id()
    expect([first === createIdentity().id(), identity.formerIds()]).toEqual([false, []])
    identity.rename('g-second', 10)
    identity.rename('g-third', 20)
    expect(identity.id()).toBe('g-third')
    expect(identity.formerIds()).toEqual([first, 'g-second'])
    expect([...identity.former().values()]).toEqual([10, 20])
    identity.drop(first)
    expect(identity.formerIds()).toEqual(['g-second'])
  })
})

describe('doubts', () => {
  test('[C7] reach the listener, and those before it are dropped', () => {
    const doubts = createDoubts()
    const heard: string[] = []
    doubts.report('too early')
    doubts.listen((why) => heard.push(why))
    doubts.report('the store was away')
    expect(heard).toEqual(['the store was away'])
  })
})
