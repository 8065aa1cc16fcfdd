import { expect, test } from 'bun:test'
import { hashOf, type Route, routeOf } from './route.ts'

const routes: [string, Partial<Route>][] = [
  ['#', {}],
  ['#as=alice', { as: 'alice' }],
  ['#as=alice&neighbours=off', { as: 'alice', hasNeighbours: false }],
  ['#dashboard', { view: 'dashboard' }],
  [
    '#dashboard&as=alice&user=b%26b&viewer=%C3%A9',
    { view: 'dashboard', as: 'alice', user: 'b&b', viewer: 'é' },
  ],
]

test.each(routes)('[X4] %s is a route', (hash, route) => {
  const whole = { view: 'demo', as: null, hasNeighbours: true, user: null, viewer: null, ...route }
  expect(hashOf(route)).toBe(hash)
  expect(routeOf(hash)).toEqual(whole as Route)
})

test('[X4] any other hash is the demo', () => {
  expect(routeOf('#as=&user=')).toEqual(routeOf(''))
  expect(routeOf('#nonsense=%').view).toBe('demo')
})
