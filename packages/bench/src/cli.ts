#!/usr/bin/env bun
// The entry point of `greendot-bench`: scenarios, or the capacity model. Exit codes: 0 done, 1 failed or
// found a fault, 2 used wrongly.
import { existsSync, readFileSync } from 'node:fs'
import { runWithFlags } from '../../server/src/platform/runtime-flags.ts'
import { runCapacity } from './capacity/command.ts'
import { runBench } from './command.ts'

// Servers run with these flags, so bare loops and loads do too.
runWithFlags(process.env)

const world = {
  print: (line: string) => console.log(line),
  complain: (line: string) => console.error(`greendot-bench: ${line}`),
  readFile: (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : null),
}

const [first, ...rest] = process.argv.slice(2)
process.exit(first === 'capacity' ? runCapacity(rest, world) : await runBench(process.argv.slice(2), world))
