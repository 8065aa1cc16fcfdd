// The settings that decide who may call and what is served: origins, pages, audience and issuer.
import { expect, test } from 'bun:test'
import { type Config, loadConfig, warningsAbout } from './config.ts'

const SECRET = 'a secret of more than 32 bytes, for tests'

const load = (argv: string[]) => loadConfig({ argv, env: {}, readFile: () => null })

function configOf(argv: string[]): Config {
  const loaded = load(argv)
  if (!loaded.ok) throw new Error(loaded.problem)
  return loaded.config
}

test('[X4] outside dev mode the demo is not served, unless it is asked for', () => {
  const pagesOf = (...argv: string[]) => configOf(['--jwt-secret', SECRET, ...argv]).pages
  expect([pagesOf(), pagesOf('--dev'), pagesOf('--dev', '--no-dev')]).toEqual([
    'dashboard',
    'all',
    'dashboard',
  ])
  expect([pagesOf('--pages=all'), pagesOf('--dev', '--pages=dashboard')]).toEqual(['all', 'dashboard'])
})

const NO_ORIGINS = [
  'app.example',
  'https://app.example/',
  'https://app.example/chat',
  'https://*.example',
  'https://user@app.example',
  'https://app.example,*',
  'https://app.example:99999',
  'null',
  ',',
]
test.each(NO_ORIGINS)('[C6] allowed_origins: %s stops the start with one line', (text) => {
  const problem = /^--allowed-origins: ".*" is not \* or a comma-separated list of origins like https:.*$/
  expect(load(['--dev', '--allowed-origins', text])).toEqual({
    ok: false,
    problem: expect.stringMatching(problem),
  })
})

test('[C6] a key set without audience and issuer is a warning, with one of the two it is none', () => {
  const warnings = (...argv: string[]) => warningsAbout(configOf(argv))
  const keySet = ['--jwks-url', 'https://id.test/keys']
  expect(warnings(...keySet)).toEqual([
    { detail: expect.stringContaining('without jwt_audience and jwt_issuer'), mend: expect.any(String) },
  ])
  expect(warnings(...keySet, '--jwt-audience', 'chat')).toEqual([])
  expect(warnings(...keySet, '--jwt-issuer', 'https://id.test')).toEqual([])
  expect(warnings('--jwt-secret', SECRET)).toEqual([])
})
