// Fills the rosters before ejabberd starts: the subscriptions of each user in both directions. Entering
// them one by one through its API takes minutes for 15,000 users; a few lines of Erlang write the same
// rows into the same table, in memory first, in seconds. ejabberd adds its index when it starts.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BenchProblem } from '../../platform/problem.ts'
import type { Scope } from '../../platform/scope.ts'
import { startProcess } from '../peer-process.ts'
import { HOST } from './configuration.ts'
import type { Installation } from './installation.ts'

const LOAD_MS_MAX = 120_000
const EDGE_BYTES = 9
const TO = 1
const FROM = 2

/** Both directions: `u` watching `v` is `to` in the roster of u and `from` in the roster of v. */
export function rosterEdges(contacts: readonly ArrayLike<number>[]): Buffer {
  const users = contacts.length
  const kinds = new Map<number, number>()
  const add = (user: number, other: number, kind: number) => {
    const edge = user * users + other
    kinds.set(edge, (kinds.get(edge) ?? 0) | kind)
  }
  contacts.forEach((watched, user) => {
    for (const other of Array.from(watched)) {
      add(user, other, TO)
      add(other, user, FROM)
    }
  })
  const bytes = Buffer.alloc(kinds.size * EDGE_BYTES)
  let at = 0
  for (const [edge, kind] of kinds) {
    bytes.writeUInt32BE(Math.floor(edge / users), at)
    bytes.writeUInt32BE(edge % users, at + 4)
    bytes.writeUInt8(kind, at + 8)
    at += EDGE_BYTES
  }
  return bytes
}

const LOADER = `-module(rosters).
-export([load/0]).

load() ->
    {ok, Edges} = file:read_file("edges.bin"),
    ok = mnesia:create_schema([node()]),
    ok = mnesia:start(),
    Fields = [usj, us, jid, name, subscription, ask, groups, askmessage, xs],
    {atomic, ok} = mnesia:create_table(roster, [{ram_copies, [node()]}, {attributes, Fields}]),
    [write(name(User), name(Other), kind(Kind)) || <<User:32, Other:32, Kind:8>> <= Edges],
    {atomic, ok} = mnesia:change_table_copy_type(roster, node(), disc_copies),
    {atomic, ok} = mnesia:change_table_copy_type(roster, node(), disc_only_copies),
    stopped = mnesia:stop(),
    halt(0).

write(User, Other, Kind) ->
    Host = <<"${HOST}">>,
    Jid = {Other, Host, <<>>},
    ok = mnesia:dirty_write({roster, {User, Host, Jid}, {User, Host}, Jid, <<>>, Kind, none, [], <<>>, []}).

name(User) -> <<"user-", (integer_to_binary(User))/binary>>.

kind(1) -> to;
kind(2) -> from;
kind(3) -> both.
`

export interface RostersToLoad {
  folder: string
  /** Where the database is made. */
  spool: string
  contacts: readonly ArrayLike<number>[]
}

export async function loadRosters(
  { erl, erlc }: Installation,
  { folder, spool, contacts }: RostersToLoad,
  scope: Scope,
): Promise<void> {
  writeFileSync(join(folder, 'edges.bin'), rosterEdges(contacts))
  writeFileSync(join(folder, 'rosters.erl'), LOADER)
  await run([erlc, 'rosters.erl'], folder, scope)
  await run([erl, '-noinput', '-mnesia', 'dir', `"${spool}"`, '-s', 'rosters', 'load'], folder, scope)
}

async function run(command: string[], folder: string, scope: Scope): Promise<void> {
  const name = command.slice(0, 2).join(' ')
  const env = { HOME: folder, ERL_CRASH_DUMP_BYTES: '0' }
  const child = startProcess({ name, command, core: null, cwd: folder, env }, scope)
  const tooLong = setTimeout(() => void child.stop(), LOAD_MS_MAX)
  const code = await child.exited
  clearTimeout(tooLong)
  await child.stop()
  if (code !== 0) throw new BenchProblem(`${name} ended with code ${code}: ${child.lastOutput()}`)
}
