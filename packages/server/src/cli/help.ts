// The help texts, derived from the commands and the table of settings, so that they are never out of date.
import { describeValue } from '../platform/config/config.ts'
import { DEFAULT_POLICY, flagOf, SETTING_NAMES, SETTINGS, type Setting } from '../platform/config/settings.ts'
import { CONFIG_FILE } from '../platform/config/sources.ts'
import { POLICIES, POLICY_NAMES } from '../presence/core/policy.ts'
import type { Command } from './command.ts'

type Row = readonly [left: string, right: string]

export function programHelp(commands: readonly Command[]): string {
  return [
    'greendot: who is here, right now, on which devices',
    '',
    'usage: greendot <command> [settings]',
    '',
    ...table(commands.map(({ name, summary }) => [name, summary])),
    ...table([['--version', 'prints the version']]),
    '',
    'Try it: greendot serve --dev',
    '"greendot <command> --help" says more; "greendot serve --help" lists all settings.',
  ].join('\n')
}

export function commandHelp(command: Command): string {
  const options = command.options.map(
    ({ name, sign, help }): Row => [`--${name}${sign === null ? '' : ` ${sign}`}`, help],
  )
  return [
    `greendot ${command.name}: ${command.summary}`,
    '',
    ...command.about,
    '',
    ...(options.length > 0 ? [...table(options), ''] : []),
    ...settingsOf(command),
  ]
    .join('\n')
    .trimEnd()
}

function settingsOf({ name, takesSettings }: Command): string[] {
  if (takesSettings === false) return []
  return name === 'serve' ? settingsHelp() : ['All settings of "greendot serve" apply.']
}

function settingsHelp(): string[] {
  const rows = SETTING_NAMES.map((name): Row => {
    const setting: Setting<unknown> = SETTINGS[name]
    const flag = `${flagOf(name)} ${setting.type.placeholder}`.trimEnd()
    return [flag, `${setting.help} [${defaultOf(setting)}]`]
  })
  return [
    'Settings, with their defaults in brackets:',
    ...table([...rows, ['--config <path>', `file with settings [${CONFIG_FILE}, if there is one]`]]),
    '',
    'Every setting has one name in three spellings, flags over environment over file:',
    `  --flush-ms 50, GREENDOT_FLUSH_MS=50, or "flush_ms": 50 in ${CONFIG_FILE}`,
  ]
}

/** The default, and the presets that differ from it. */
export function defaultOf(setting: Setting<unknown>): string {
  const { fallback } = setting
  if (fallback.from === 'value') return describeValue(setting, fallback.value).replace('(not set)', 'none')
  if (fallback.from === 'dev') return `${wordOf(fallback.otherwise)}, dev ${wordOf(fallback.inDev)}`
  const usual = POLICIES[DEFAULT_POLICY][fallback.key]
  const others = POLICY_NAMES.filter((name) => POLICIES[name][fallback.key] !== usual)
  return [usual, ...others.map((name) => `${name} ${POLICIES[name][fallback.key]}`)].join(', ')
}

const wordOf = (value: unknown): string => (value === true ? 'on' : `${value || 'off'}`)

const LEFT_CHARS_MAX = 30

function table(rows: readonly Row[]): string[] {
  const widths = rows.map(([left]) => left.length).filter((length) => length <= LEFT_CHARS_MAX)
  const width = Math.max(11, ...widths)
  return rows.flatMap(([left, right]) =>
    // A long left side gets its own line instead of widening the column.
    left.length > width
      ? [`  ${left}`, `  ${' '.repeat(width)}  ${right}`]
      : [`  ${left.padEnd(width)}  ${right}`],
  )
}
