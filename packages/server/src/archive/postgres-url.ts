// What the PostgreSQL archive reads from `database_url` and adds to it, and how errors are worded: with
// the host and the database, without the password. Details from the server are left out, because they
// quote rows.

/** Bun reads these from the query of the URL. Values in the configured URL win. */
const POOL_DEFAULTS = {
  connect_timeout: '2',
  idle_timeout: '60',
  // After a failover, all connections reach the new server within half an hour.
  max_lifetime: '1800',
  application_name: 'greendot',
}

export interface PostgresPlace {
  /** Complete, with timeouts. */
  url: string
  /** Null when the URL names none; then the environment decides. */
  database: string | null
  poolMax: number
  failure(error: unknown): PostgresFailure
}

/** `code` is a SQLSTATE of the server, for example `57014`, or a code of Bun. */
export type PostgresFailure = Error & { code: string | null }

export interface PlaceOptions {
  url: string
  poolMax: number | undefined
  poolMaxDefault: number
  /** Sent to the server when a connection opens. */
  session: Record<string, number>
}

export function postgresPlace({ url, poolMax, poolMaxDefault, session }: PlaceOptions): PostgresPlace {
  const parsed = parse(url)
  const { searchParams } = parsed
  const database = decodeURIComponent(parsed.pathname.slice(1))
  const where = `${parsed.host}/${database}`
  const secrets = [parsed.password, decodeURIComponent(parsed.password), searchParams.get('password')]

  for (const [name, value] of Object.entries(POOL_DEFAULTS)) {
    if (!searchParams.has(name)) searchParams.set(name, value)
  }
  for (const [name, value] of Object.entries(session)) searchParams.set(name, String(value))

  return {
    url: parsed.href,
    database: database === '' ? null : database,
    poolMax: poolMax ?? (Number(searchParams.get('max')) || poolMaxDefault),
    failure(error) {
      const { text, code } = reasonOf(error)
      const message = secrets.reduce<string>(
        (said, secret) => (secret ? said.replaceAll(secret, '(secret)') : said),
        `PostgreSQL at ${where}: ${text}`,
      )
      return Object.assign(new Error(message), { code })
    },
  }
}

/** Checked first, because the error of `new URL` contains the URL. */
function parse(url: string): URL {
  if (!URL.canParse(url)) throw new Error('The PostgreSQL URL is not well formed')
  return new URL(url)
}

function reasonOf(error: unknown): { text: string; code: string | null } {
  if (!(error instanceof Error)) return { text: String(error), code: null }
  return { text: error.message, code: textOf(error, 'errno') ?? textOf(error, 'code') }
}

function textOf(error: Error, field: 'errno' | 'code'): string | null {
  const value: unknown = Reflect.get(error, field)
  return typeof value === 'string' ? value : null
}
