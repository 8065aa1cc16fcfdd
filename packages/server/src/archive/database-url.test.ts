// Every way to write `database_url`, and every refusal: a refusal says what to write instead and
// never repeats a password.
import { expect, test } from 'bun:test'
import { parseDatabaseUrl } from './database-url.ts'

test.each([
  ['sqlite://data/greendot.db', 'data/greendot.db'],
  ['sqlite://greendot.db', 'greendot.db'],
  ['sqlite://./greendot.db', './greendot.db'],
  ['sqlite:///var/lib/greendot.db', '/var/lib/greendot.db'],
  ['sqlite://:memory:', ':memory:'],
  ['sqlite::memory:', ':memory:'],
  ['sqlite:data/greendot.db', 'data/greendot.db'],
  ['SQLite://data/Greendot.db ', 'data/Greendot.db'],
])('[C2] %s is a SQLite file', (url, path) => {
  expect(parseDatabaseUrl(url)).toEqual({ kind: 'sqlite', path })
})

test.each([
  'postgres://user:secret@localhost:5432/greendot?sslmode=require',
  'postgresql://db.internal/greendot',
])('[C2] %s is a PostgreSQL server', (url) => {
  expect(parseDatabaseUrl(url)).toEqual({ kind: 'postgres', url })
})

test.each([
  ['', 'no scheme'],
  ['data/greendot.db', 'no scheme'],
  ['mysql://root:secret@localhost/greendot', 'There is no database for "mysql:"'],
  ['sqlite://', 'names no file'],
  ['sqlite://data/', 'names no file'],
  ['sqlite://data/greendot.db?mode=ro', 'takes no options'],
  ['postgres://', 'not well formed'],
  ['postgres://user:secret@', 'not well formed'],
  ['postgres:greendot', 'not well formed'],
])('[C2] "%s" is refused with a sentence that says why and keeps secrets', (url, part) => {
  const parsed = parseDatabaseUrl(url)
  if (parsed.kind !== 'invalid') throw new Error(`expected a refusal, got ${JSON.stringify(parsed)}`)
  expect(parsed.message).toContain(part)
  expect(parsed.message).not.toContain('secret')
})
