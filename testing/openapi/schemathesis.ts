// Runs Schemathesis against a server, with one identity and all of its checks. The seed is fixed, so that a run
// that passes passes again.
import { delimiter, join } from 'node:path'
import { newFolder, removeFolder } from '../services/child.ts'
import type { FoundPackages } from '../services/tools/python-packages.ts'

const CONFIG = join(import.meta.dir, 'schemathesis.toml')
const START = 'import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())'
/** For one answer, on a busy machine. */
const ANSWER_S_MAX = 30

export interface SchemathesisRun {
  program: Extract<FoundPackages, { state: 'found' }>
  url: string
  token: string
  /** Random requests per operation, besides those for every keyword of every schema. */
  examples: number
  seed: number
  /** A group of operations that is left out. */
  withoutGroup?: string
  output: 'pipe' | 'inherit'
}

export interface SchemathesisOutcome {
  passed: boolean
  /** What it printed, if the output is a pipe. */
  said: string
}

export async function runSchemathesis(run: SchemathesisRun): Promise<SchemathesisOutcome> {
  // It leaves caches and failing requests in its working directory.
  const folder = newFolder('schemathesis')
  try {
    const child = Bun.spawn({
      cmd: [
        run.program.python,
        '-c',
        START,
        `--config-file=${CONFIG}`,
        'run',
        `${run.url}/openapi.json`,
        `--header=Authorization: Bearer ${run.token}`,
        '--checks=all',
        ...(run.withoutGroup === undefined ? [] : [`--exclude-tag=${run.withoutGroup}`]),
        `--max-examples=${run.examples}`,
        `--seed=${run.seed}`,
        '--continue-on-failure',
        '--generation-database=none',
        `--request-timeout=${ANSWER_S_MAX}`,
        // An identity is refused where another one is needed, which is no reason to warn.
        '--warnings=off',
        '--no-color',
      ],
      cwd: folder,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: folder,
        LC_ALL: 'C.UTF-8',
        PYTHONPATH: [run.program.packages, import.meta.dir].join(delimiter),
        PYTHONDONTWRITEBYTECODE: '1',
      },
      stdio: ['ignore', run.output, run.output],
    })
    const streams = [child.stdout, child.stderr].filter((stream) => stream instanceof ReadableStream)
    const said = await Promise.all(streams.map((stream) => new Response(stream).text()))
    return { passed: (await child.exited) === 0, said: said.join('') }
  } finally {
    removeFolder(folder)
  }
}
