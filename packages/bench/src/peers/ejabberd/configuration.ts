// The configuration ejabberd runs with: presence and nothing else. Everything that would cost it work the
// others do not do is off, and its cache has room for the roster of every user.

export const HOST = 'localhost'

export interface ConfigurationOptions {
  port: number
  users: number
  /** The file with the key of the tokens. */
  keyPath: string
}

export function configuration({ port, users, keyPath }: ConfigurationOptions): string {
  return `hosts: ["${HOST}"]
loglevel: warning

# The same signed tokens as everywhere else, as the password.
auth_method: jwt
jwt_key: ${JSON.stringify(keyPath)}
disable_sasl_mechanisms: ["digest-md5", "scram-sha-1", "scram-sha-256", "scram-sha-512", "x-oauth2"]

listen:
  -
    port: ${port}
    ip: "127.0.0.1"
    module: ejabberd_c2s
    backlog: 1024
    starttls: false
    zlib: false

cache_size: ${Math.max(1_000, users * 2)}
cache_life_time: infinity

modules:
  mod_ping: {}
  mod_roster: {}
`
}

/** The secret as a JSON Web Key, the form in which ejabberd reads it. */
export function keyFile(secret: string): string {
  return JSON.stringify({ kty: 'oct', alg: 'HS256', k: Buffer.from(secret, 'utf8').toString('base64url') })
}
