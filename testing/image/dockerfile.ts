// Reads a Dockerfile as a builder does: comments and continued lines, stages, the flags before the arguments, and
// arguments as words, as JSON or as a shell line. An instruction that it does not know is an error, so that no line
// of the file is left out silently.

const KNOWN = [
  ...['FROM', 'WORKDIR', 'COPY', 'RUN', 'LABEL', 'ENV', 'VOLUME', 'USER'],
  ...['EXPOSE', 'STOPSIGNAL', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'],
]
const FLAG = /^--([a-z-]+)=(\S+)\s+/

interface Instruction {
  name: string
  /** Such as `from` of `COPY --from=build`. */
  flags: Record<string, string>
  /** What follows the flags. */
  text: string
}

export interface Stage {
  base: string
  name: string | null
  instructions: Instruction[]
}

export function parseDockerfile(file: string): Stage[] {
  const stages: Stage[] = []
  const lines = file.replace(/^\s*#.*\n/gm, '').replace(/\\\n/g, '')
  for (const line of lines.split('\n').filter((one) => one.trim() !== '')) {
    const instruction = parseInstruction(line)
    if (instruction.name === 'FROM') {
      const [base = '', as, name] = instruction.text.split(/\s+/)
      stages.push({ base, name: as?.toUpperCase() === 'AS' ? name! : null, instructions: [] })
    } else if (stages.length === 0) throw new Error(`${instruction.name} stands before the first FROM`)
    else stages.at(-1)!.instructions.push(instruction)
  }
  return stages
}

function parseInstruction(line: string): Instruction {
  const [, name = '', rest = ''] = /^\s*([A-Za-z]+)\s+(.*)$/.exec(line) ?? []
  if (!KNOWN.includes(name)) throw new Error(`no known instruction: ${line}`)
  const flags: Record<string, string> = {}
  let text = rest.trim()
  for (let flag = FLAG.exec(text); flag !== null; flag = FLAG.exec(text)) {
    flags[flag[1]!] = flag[2]!
    text = text.slice(flag[0].length)
  }
  return { name, flags, text }
}

export const textsOf = (stage: Stage, name: string): string[] =>
  stage.instructions.filter((one) => one.name === name).map(({ text }) => text)

/** The last one counts, as for a builder. */
export const lastOf = (stage: Stage, name: string): string => textsOf(stage, name).at(-1) ?? ''

/** The command of ENTRYPOINT, CMD or HEALTHCHECK: a JSON array, or a line for the shell. */
export function commandOf(text: string): string[] {
  const line = text.replace(/^CMD\s+/, '')
  if (line === '') return []
  return line.startsWith('[') ? JSON.parse(line) : ['/bin/sh', '-c', line]
}

/** `NAME=value` pairs of ENV and LABEL; a value may be in double quotes. */
export function pairsOf(stage: Stage, name: 'ENV' | 'LABEL'): Record<string, string> {
  const pairs = textsOf(stage, name).flatMap((text) =>
    Array.from(text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S*))/g), ([, key, quoted, bare]) => [
      key!,
      quoted ?? bare!,
    ]),
  )
  return Object.fromEntries(pairs)
}
