// Reads `database_url` from the configuration. A URL that cannot be used becomes a sentence that says
// what to write instead. The sentence never repeats the URL, which may contain a password.

export type DatabaseUrl =
  /** A relative path is relative to the working directory; `:memory:` lives as long as the process. */
  { kind: 'sqlite'; path: string } | { kind: 'postgres'; url: string } | { kind: 'invalid'; message: string }

const EXAMPLES =
  'use sqlite://data/greendot.db, sqlite:///absolute/path.db or postgres://user:password@host/name'

export function parseDatabaseUrl(text: string): DatabaseUrl {
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):(?:\/\/)?(.*)$/i.exec(text.trim()) ?? []
  if (scheme === undefined || rest === undefined) {
    return { kind: 'invalid', message: `The database URL has no scheme: ${EXAMPLES}` }
  }
  switch (scheme.toLowerCase()) {
    case 'sqlite':
      return parseSqlite(rest)
    case 'postgres':
    case 'postgresql':
      return parsePostgres(text.trim())
    default:
      return { kind: 'invalid', message: `There is no database for "${scheme}:": ${EXAMPLES}` }
  }
}

function parseSqlite(path: string): DatabaseUrl {
  if (path === '' || path.endsWith('/')) {
    return { kind: 'invalid', message: 'The SQLite URL names no file: use sqlite://data/greendot.db' }
  }
  // Otherwise `?mode=ro` would quietly become part of the file's name.
  if (/[?#]/.test(path)) {
    return { kind: 'invalid', message: 'The SQLite URL takes no options: leave out everything from ? or #' }
  }
  return { kind: 'sqlite', path }
}

function parsePostgres(url: string): DatabaseUrl {
  if (!URL.canParse(url) || new URL(url).hostname === '') {
    return {
      kind: 'invalid',
      message: 'The PostgreSQL URL is not well formed: use postgres://user:password@host:5432/name',
    }
  }
  return { kind: 'postgres', url }
}
