import { expect, test } from 'bun:test'
import { hashOf, type Place, placeOf } from './route.ts'

const places: [string, Partial<Place>][] = [
  ['#', {}],
  ['#as=alice', { as: 'alice' }],
  ['#as=alice&neighbours=off', { as: 'alice', hasNeighbours: false }],
  ['#dashboard', { view: 'dashboard' }],
  [
    '#dashboard&as=alice&user=b%26b&viewer=%C3%A9',
    { view: 'dashboard', as: 'alice', user: 'b&b', viewer: 'é' },
  ],
]

test.each(places)('[X4] %s is an address', (hash, place) => {
  const whole = { view: 'demo', as: null, hasNeighbours: true, user: null, viewer: null, ...place }
  expect(hashOf(place)).toBe(hash)
  expect(placeOf(hash)).toEqual(whole as Place)
})

test('[X4] whatever else stands there leads to the demo', () => {
  expect(placeOf('#as=&user=')).toEqual(placeOf(''))
  expect(placeOf('#nonsense=%').view).toBe('demo')
})
