// A sheet of figures, as in a spreadsheet. Each figure remembers which constants it was computed from,
// by itself and through other figures, so the origin of a figure is never written by hand.
import type { ConstantName } from './constant-names.ts'
import type { Constants } from './constants.ts'

export interface Figure {
  readonly label: string
  readonly unit: string
  readonly value: number
  /** Constants in its own formula. */
  readonly uses: readonly ConstantName[]
  /** Those, and the ones of all figures it was computed from. */
  readonly restsOn: readonly ConstantName[]
}

export interface Sheet {
  /** Only inside the formula of a figure. */
  constant(name: ConstantName): number
  figure(label: string, unit: string, formula: () => number): Figure
}

interface Recording {
  uses: Set<ConstantName>
  restsOn: Set<ConstantName>
}

export function createSheet(constants: Constants): Sheet {
  let current: Recording | null = null

  return {
    constant(name) {
      if (current === null) throw new Error(`${name} is read outside of a figure`)
      current.uses.add(name)
      current.restsOn.add(name)
      return constants.get(name)!.value
    },
    figure(label, unit, formula) {
      if (current !== null) throw new Error(`${label} begins inside of another figure`)
      const recording: Recording = { uses: new Set(), restsOn: new Set() }
      current = recording
      let value: number
      try {
        value = formula()
      } finally {
        current = null
      }
      if (!(Number.isFinite(value) && value >= 0)) throw new Error(`${label} comes out as ${value}`)
      return {
        label,
        unit,
        get value() {
          for (const name of recording.restsOn) current?.restsOn.add(name)
          return value
        },
        uses: [...recording.uses],
        get restsOn() {
          return [...recording.restsOn]
        },
      }
    },
  }
}
