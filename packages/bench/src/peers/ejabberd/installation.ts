// Where ejabberd is. Its control script knows which Erlang it was built for and where its libraries lie;
// the script itself is not used to start it, because it would change the user, keep the node among the
// system's own and start a name server (epmd) that outlives it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Installation {
  /** The Erlang runtime. */
  erl: string
  /** Its compiler. */
  erlc: string
  /** Where Erlang looks for ejabberd, beside its own libraries. */
  libraries: string
  version: string
}

const SCRIPTS = ['/usr/sbin/ejabberdctl', '/usr/local/sbin/ejabberdctl']

/** The installation, or why there is none that can be used, in words. */
export function findEjabberd(): Installation | string {
  const script = Bun.which('ejabberdctl') ?? SCRIPTS.find((path) => existsSync(path))
  if (script === undefined)
    return 'there is no `ejabberdctl` on the PATH (on Debian: apt-get install ejabberd)'
  const text = readFileSync(script, 'utf8')
  const erl = setting(text, 'ERL') ?? Bun.which('erl')
  if (erl === null || !existsSync(erl)) return `${script} does not say where its Erlang is`
  const beside = join(dirname(erl), 'erlc')
  const erlc = existsSync(beside) ? beside : Bun.which('erlc')
  if (erlc === null) return `the Erlang compiler \`erlc\` is neither beside ${erl} nor on the PATH`
  const libraries = setting(text, 'ERL_LIBS') ?? ''
  return { erl, erlc, libraries, version: versionIn(libraries) }
}

/** Erlang puts the version of a library into the name of its folder. */
function versionIn(libraries: string): string {
  const names = libraries !== '' && existsSync(libraries) ? readdirSync(libraries) : []
  return names.map((name) => /^ejabberd-([\d.]+)$/.exec(name)?.[1]).find(Boolean) ?? 'of an unknown version'
}

/** A line `NAME=value` of a shell script, unless the value is computed. */
function setting(script: string, name: string): string | null {
  const value = new RegExp(`^${name}=['"]?([^'"\\n$]+)['"]?$`, 'm').exec(script)?.[1]
  return value ?? null
}
