// `greendot bench peers`: Greendot, which runs already, and then every peer, one after the other on the
// same core, each stopped completely before the next begins. A peer that is not installed or that fails
// gets a line that says why, and the others are measured all the same.
import { randomBytes } from 'node:crypto'
import { noOutcome, type Outcome } from '../figures/result.ts'
import { makeGraph } from '../load/graphs.ts'
import { BenchProblem } from '../platform/problem.ts'
import { type Bench, fleetSpec, type Scenario } from '../scenarios/scenario.ts'
import type { Subject } from '../subject/subject.ts'
import { peers } from './index.ts'
import { measure } from './measure.ts'
import type { Peer } from './peer.ts'
import { figuresOf, markdownTable, type Row } from './table.ts'

const STOPPING = ['SIGINT', 'SIGTERM'] as const
const GREENDOT = { name: 'greendot', title: 'Greendot' }

async function run(greendot: Subject, bench: Bench): Promise<Outcome> {
  if (bench.options.gateways > 1) throw new BenchProblem('peers: one process each; leave out --gateways')
  let isInterrupted = false
  const interrupt = () => {
    isInterrupted = true
  }
  for (const signal of STOPPING) process.once(signal, interrupt)
  const problems: string[] = []
  const rows: Row[] = [await row(GREENDOT, async () => greendot, bench, problems)]
  for (const peer of peers) {
    // After an interrupt no further server is started.
    if (isInterrupted) break
    const why = peer.findReason()
    const { name, title } = peer
    if (why !== null) rows.push({ name, title, state: 'missing', why })
    else {
      const versioned = { name, title: `${title} ${peer.version()}` }
      rows.push(await row(versioned, () => start(peer, bench), bench, problems))
    }
  }
  for (const signal of STOPPING) process.off(signal, interrupt)
  return {
    ...noOutcome(),
    table: markdownTable(rows),
    figures: figuresOf(rows),
    problems,
    notes: ['Compare the rows of one run, never rows of two. docs/peers.md says how each server is set up.'],
  }
}

async function row(
  server: { name: string; title: string },
  begin: () => Promise<Subject>,
  bench: Bench,
  problems: string[],
): Promise<Row> {
  try {
    const { figures, faults } = await measure(await begin(), bench)
    problems.push(...faults.map((fault) => `${server.title}: ${fault}`))
    return { ...server, state: 'measured', figures }
  } catch (error) {
    // A server that fails does not end the comparison of the others.
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    if (!(error instanceof BenchProblem)) bench.progress.say(stack ?? message)
    problems.push(`${server.title}: ${message}`)
    return { ...server, state: 'failed', why: message }
  } finally {
    await bench.scope.close()
  }
}

async function start(peer: Peer, { options, progress, scope }: Bench): Promise<Subject> {
  progress.show(`${peer.title}: starting`)
  const graph = makeGraph(fleetSpec(options).graph)
  const contacts = Array.from({ length: graph.users }, (_, user) => graph.contactsOf(user))
  const secret = randomBytes(32).toString('hex')
  return peer.start({ contacts, core: options.serverCore, secret }, scope)
}

export const compare: Scenario = { run }
