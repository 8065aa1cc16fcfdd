// A few of the faults of `npm run test:faults` with a small crowd, so that every test run breaks
// something: a gateway dies, Redis is emptied, the presence processes die and come back.
import { expect, test } from 'bun:test'
import { describeWithService } from '../services/describe.ts'
import { findPostgres, startPostgres } from '../services/postgres.ts'
import { findRedis } from '../services/redis.ts'
import { gatewayKilled } from './cases/gateway-killed.ts'
import { presenceKilled } from './cases/presence-killed.ts'
import { redisFlushed } from './cases/redis-emptied.ts'
import type { FaultCase } from './scene.ts'

const USERS = 200
const CONTACTS = 18
const CASE_MS_MAX = 40_000

const redis = await findRedis()
const found = redis.state === 'missing' ? redis : await findPostgres()

const cases: [string, FaultCase][] = [
  ['[C7] a killed gateway is not seen by those who come back, and leaves no ghosts', gatewayKilled],
  ['[C7] an emptied Redis is filled again from the live connections', redisFlushed],
  ['[C7] deadlines wait for a presence process, and nothing else does', presenceKilled],
]

describeWithService('Faults', found, startPostgres, (postgres) => {
  for (const [title, { run }] of cases) {
    test(
      title,
      async () => {
        const outcome = await run({
          users: USERS,
          contacts: CONTACTS,
          isQuick: true,
          postgres: postgres(),
          say: () => {},
        })
        expect(outcome).toMatchObject({ problems: [], falseSightings: 0, disagreements: 0 })
      },
      CASE_MS_MAX,
    )
  }
})
