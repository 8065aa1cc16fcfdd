// The commands of the program, in the order in which help lists them.

import { backup } from './backup.ts'
import { bench, capacity } from './bench.ts'
import type { Command } from './command.ts'
import { doctor } from './doctor.ts'
import { explain } from './explain.ts'
import { migrate } from './migrate.ts'
import { roleCommand, serve } from './serve.ts'
import { token } from './token.ts'
import { webhooks } from './webhooks.ts'

export const COMMANDS: readonly Command[] = [
  serve,
  roleCommand('gateway', 'holds connections'),
  roleCommand('presence', 'state, queries, deadlines'),
  roleCommand('fanout', 'webhooks, history, the Kafka relay'),
  token,
  explain,
  webhooks,
  migrate,
  backup,
  doctor,
  bench,
  capacity,
]
