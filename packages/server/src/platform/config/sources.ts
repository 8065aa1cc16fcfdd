// Collects the settings that were given: flags over environment over file. Names are checked here, values
// later. Problems name the place and never the value, which may be a secret.
import { type FlagType, strayProblem, takeFlags, unknownName } from './flags.ts'
import {
  flagOf,
  isSettingName,
  optionOf,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  VARIABLE_PREFIX,
  variableOf,
} from './settings.ts'

export interface ConfigSources {
  /** Flags only: the command and its own options are already taken out. */
  argv: readonly string[]
  /** Names of the options that were taken out: a misspelt flag may mean one of them. */
  ownOptions?: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  /** The text of a file; null when there is no such file. */
  readFile: (path: string) => string | null
}

/** The text given for a setting, and where it was given. */
export interface GivenText {
  text: string
  source: string
}

export type GivenSettings = ReadonlyMap<SettingName, GivenText>
type Report = (problem: string) => void

export const CONFIG_FILE = 'greendot.config.json'
const CONFIG_FLAG = 'config'
const CONFIG_VARIABLE = `${VARIABLE_PREFIX}CONFIG`

// Kubernetes adds these to the environment of every pod beside a service named greendot.
const KUBERNETES_VARIABLE = /^GREENDOT_(SERVICE_(HOST|PORT)|PORT_\d+_)/

export function collectSettings(sources: ConfigSources, report: Report): GivenSettings {
  const flags = fromFlags(sources, report)
  const variables = fromEnvironment(sources.env, report)
  const path = flags.path ?? variables.path
  const file = fromFile(path ?? CONFIG_FILE, path !== null, sources.readFile, report)
  return new Map([...file, ...variables.given, ...flags.given])
}

interface Collected {
  given: GivenSettings
  /** The path of the configuration file, if it was given. */
  path: string | null
}

/** The flags of all settings, without dashes. */
export function settingFlags(): Map<string, FlagType> {
  const flags = new Map(SETTING_NAMES.map((name) => [optionOf(name), SETTINGS[name].type.flag]))
  return flags.set(CONFIG_FLAG, 'text')
}

function fromFlags({ argv, ownOptions = [] }: ConfigSources, report: Report): Collected {
  const given = new Map<SettingName, GivenText>()
  const known = settingFlags()
  const taken = takeFlags(argv, known)
  if (!taken.ok) {
    report(taken.problem)
    return { given, path: null }
  }
  const [stray] = taken.rest
  if (stray !== undefined) report(strayProblem(stray, [...known.keys(), ...ownOptions]))
  for (const name of SETTING_NAMES) {
    const text = taken.values.get(optionOf(name))
    if (text !== undefined) given.set(name, { text, source: flagOf(name) })
  }
  return { given, path: taken.values.get(CONFIG_FLAG) ?? null }
}

function fromEnvironment(env: ConfigSources['env'], report: Report): Collected {
  const given = new Map<SettingName, GivenText>()
  const variables = SETTING_NAMES.map(variableOf)
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(VARIABLE_PREFIX) || variable === CONFIG_VARIABLE) continue
    const name = variable.slice(VARIABLE_PREFIX.length).toLowerCase()
    if (!isSettingName(name) || variable !== variableOf(name)) report(unknownVariable(variable, variables))
    // Deployment tools set variables without a value; empty means not set.
    else if (text) given.set(name, { text, source: variable })
  }
  return { given, path: env[CONFIG_VARIABLE] || null }
}

function fromFile(
  path: string,
  wasNamed: boolean,
  readFile: ConfigSources['readFile'],
  report: Report,
): GivenSettings {
  const given = new Map<SettingName, GivenText>()
  const text = readText(path, readFile, report)
  if (text === null) {
    if (wasNamed) report(`${path}: there is no such configuration file`)
    return given
  }
  for (const [name, value] of Object.entries(parseObject(path, text, report))) {
    if (!isSettingName(name)) {
      report(`${path}: ${unknownName(name, SETTING_NAMES)}`)
      continue
    }
    const { type, fallback } = SETTINGS[name]
    const isUnset = value === null && fallback.from === 'value' && fallback.value === null
    const valueText = textOf(value)
    if (valueText === null) report(`${path}: ${name}: the value given is not ${type.expects}`)
    else if (!isUnset) given.set(name, { text: valueText, source: `${path}: ${name}` })
  }
  return given
}

function readText(path: string, readFile: ConfigSources['readFile'], report: Report): string | null {
  try {
    return readFile(path)
  } catch {
    report(`${path}: cannot be read; check that it is a file and that its permissions allow it`)
    return null
  }
}

function parseObject(path: string, text: string, report: Report): object {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed
    report(`${path}: is not a JSON object with settings as its keys`)
  } catch {
    // The message of the parser quotes the text around the mistake.
    report(`${path}: is not JSON; look for missing quotes and trailing commas`)
  }
  return {}
}

/** A JSON value as on the command line; null when there is no such text. */
function textOf(value: unknown): string | null {
  if (Array.isArray(value)) {
    const isList = value.every((item) => typeof item === 'string' && !item.includes(','))
    return isList ? value.join(',') : null
  }
  return typeof value === 'object' && value !== null ? null : String(value)
}

function unknownVariable(name: string, names: readonly string[]): string {
  return KUBERNETES_VARIABLE.test(name)
    ? `${name}: no such setting; Kubernetes adds it for a service named greendot, unless the pod has enableServiceLinks: false`
    : unknownName(name, names)
}
