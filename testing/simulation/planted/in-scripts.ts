// Bugs in the atomic steps of the store: scripts of the simulated Redis that do something else.

import { chunksOf } from '../../../packages/server/src/platform/chunks.ts'
import {
  COMMIT,
  COMMIT_FIELDS,
  EPOCH,
  INTEREST,
  RENEW_LEASE,
  TAKE_LOST,
} from '../../../packages/server/src/store/redis-scripts.ts'
import type { Script } from '../adapters/store-scripts.ts'
import type { Planting } from '../world/ground.ts'
import type { Planted } from './planting.ts'

const inScript = (sha: string, change: (script: Script) => Script): Planting => ({
  scripts: new Map([[sha, change]]),
})

/** Other arguments for each user of a commit. */
const inCommit = (
  change: (fields: string[], context: Parameters<Script>[0], p: string) => string[],
): Planting =>
  inScript(COMMIT.sha, (commit) => (context, p, args) => {
    const changed: string[] = []
    for (const fields of chunksOf(args, COMMIT_FIELDS)) changed.push(...change(fields, context, p))
    return commit(context, p, changed)
  })

export const IN_SCRIPTS: readonly Planted[] = [
  {
    name: 'commits do not compare revisions',
    breaks: 'B3',
    plant: () =>
      inCommit(([id, , ...rest], { data }, p) => {
        const held = data.get(`${p}u:${id}`)
        return [id!, held === null ? '0' : held.slice(0, held.indexOf(' ')), ...rest]
      }),
  },
  {
    name: 'a commit leaves no duties',
    breaks: 'B3, B6',
    isRare: true,
    plant: () => inCommit((fields) => fields.with(6, '0')),
  },
  {
    name: 'a commit is not put into the change log',
    breaks: 'B6',
    plant: () => inCommit((fields) => fields.with(7, '')),
  },
  {
    name: 'a deadline is rounded up to ten seconds',
    breaks: 'B1',
    plant: () =>
      inCommit((fields) =>
        fields[4] === '' ? fields : fields.with(4, String(Math.ceil(Number(fields[4]) / 10_000) * 10_000)),
      ),
  },
  {
    name: 'a deadline stays when a later commit has none',
    breaks: 'B7',
    plant: () =>
      inCommit((fields, { data }, p) => {
        const before = data.score(`${p}due`, fields[0]!)
        return fields[4] === '' && before !== null ? fields.with(4, String(before)) : fields
      }),
  },
  {
    name: 'a lease is renewed after it was taken',
    breaks: 'B1, B3',
    isRare: true,
    plant: () =>
      inScript(RENEW_LEASE.sha, () => ({ data }, p, [gateway, until]) => {
        data.sortedAdd(`${p}held`, gateway!, Number(until))
        return 1
      }),
  },
  {
    name: 'a lease that ran out is noticed six seconds late',
    breaks: 'B1',
    isRare: true,
    plant: () =>
      inScript(
        TAKE_LOST.sha,
        (take) =>
          (context, p, [now]) =>
            take(context, p, [String(Number(now) - 6_000)]),
      ),
  },
  {
    name: 'leases are taken a lease too early',
    breaks: 'B2',
    plant: () =>
      inScript(
        TAKE_LOST.sha,
        (take) =>
          (context, p, [now]) =>
            take(context, p, [String(Number(now) + 10_000)]),
      ),
  },
  {
    name: 'an epoch that is missing is not noticed',
    breaks: 'B2, B3',
    isRare: true,
    plant: () =>
      inScript(EPOCH.sha, (epoch) => (context, p, args) => {
        const [known] = args
        if (known === '' || context.data.exists(`${p}e`)) return epoch(context, p, args)
        context.data.set(`${p}e`, `${known} 0`)
        return `${known} 0`
      }),
  },
  {
    name: 'a shard that lost its memory has nothing to wait for',
    breaks: 'B2',
    isRare: true,
    plant: () =>
      inScript(
        EPOCH.sha,
        (epoch) =>
          (context, p, [known, name, since]) =>
            epoch(context, p, [known!, name!, since!, '0']),
      ),
  },
  {
    name: 'interest of a second gateway replaces that of the first',
    breaks: 'B1, B3',
    plant: () =>
      inScript(INTEREST.sha, (interest) => (context, p, args) => {
        const [gateway, adding, ...ids] = args
        const reply = interest(context, p, args)
        for (const id of ids.slice(0, Number(adding))) context.data.set(`${p}w:${id}`, `${gateway}\n`)
        return reply
      }),
  },
]
