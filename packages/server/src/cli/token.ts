// `greendot token`: mints a user token, signed with the jwt_secret that the server checks. Only the token goes
// to stdout, so that a script can use it.
import { isId } from '@greendot/protocol'
import type { Config } from '../platform/config/config.ts'
import { type Command, configFor, EXIT, type ExitCode, misuse, takeOptions, type World } from './command.ts'

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const
const TTL_SECONDS_MAX = 366 * SECONDS.d
const TTL_DEFAULT = '1h'

export const token: Command = {
  name: 'token',
  summary: 'mints a user token',
  about: [
    'Signs with jwt_secret, from the same settings as the server. In dev mode without a jwt_secret',
    'it prints the dev token of the user.',
  ],
  options: [
    { name: 'user', sign: '<user_id>', help: 'the user of the token' },
    { name: 'ttl', sign: '<time>', help: `how long it is valid: 30s, 15m, 1h, 7d (${TTL_DEFAULT})` },
  ],
  run,
}

async function run(argv: readonly string[], world: World): Promise<ExitCode> {
  const taken = takeOptions(token, argv)
  if (!taken.ok) return misuse(taken.problem, world)
  const userId = taken.values.get('user')
  if (userId === undefined) return misuse('--user is missing, as in: greendot token --user alice', world)
  if (!isId(userId)) return misuse('--user: 1 to 128 bytes without white space or commas', world)
  const ttlSeconds = parseTtlSeconds(taken.values.get('ttl') ?? TTL_DEFAULT)
  if (ttlSeconds === null) return misuse('--ttl: write it as 30s, 15m, 1h or 7d, up to 366d', world)

  const config = configFor(token, taken.rest, world)
  if (config === null) return EXIT.usage
  if (config.jwtSecret !== null) {
    world.print(await mint(config, config.jwtSecret, userId, ttlSeconds, world.clock.now()))
  } else if (config.jwksUrl !== null) {
    return misuse('tokens for a jwks_url are signed by its publisher; get one there', world)
  } else {
    world.print(`dev:${userId}`)
  }
  return EXIT.ok
}

/** With the first audience and issuer that the server accepts, where it asks for one. */
async function mint(
  { jwtAudience: [aud], jwtIssuer: [iss] }: Config,
  secret: string,
  userId: string,
  ttlSeconds: number,
  now: number,
): Promise<string> {
  // Imported here, so that servers do not load it.
  const { SignJWT } = await import('jose')
  const issuedAtSeconds = Math.floor(now / 1000)
  return new SignJWT({ ...(aud === undefined ? {} : { aud }), ...(iss === undefined ? {} : { iss }) })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(userId)
    .setIssuedAt(issuedAtSeconds)
    .setExpirationTime(issuedAtSeconds + ttlSeconds)
    .sign(new TextEncoder().encode(secret))
}

function parseTtlSeconds(text: string): number | null {
  const match = /^(\d{1,9})([smhd])$/.exec(text)
  if (match === null) return null
  const seconds = Number(match[1]) * SECONDS[match[2] as keyof typeof SECONDS]
  return seconds > 0 && seconds <= TTL_SECONDS_MAX ? seconds : null
}
