// How measured values are held against fixed bounds. Pure: values and bounds in, verdicts out.

export interface Bound {
  max: number
  unit: string
  /** Where the bound comes from. */
  why: string
}

export type Bounds = Readonly<Record<string, Bound>>

/** One measured value; `detail` names the step that took longest, where there are several. */
export interface Value {
  name: string
  value: number
  detail?: string
}

/** A measurement of one or several values. It runs in a process of its own, so that it finds a small heap. */
export interface BoundGroup {
  name: string
  bounds: readonly string[]
  run(): Promise<Value[]>
}

export interface BoundVerdict extends Value {
  bound: Bound
  result: 'holds' | 'over'
}

export function judgeBounds(values: readonly Value[], bounds: Bounds): BoundVerdict[] {
  return values.map((one) => {
    const bound = bounds[one.name]
    if (bound === undefined) throw new Error(`there is no bound for "${one.name}"`)
    return { ...one, bound, result: one.value > bound.max ? 'over' : 'holds' }
  })
}

/** The better of two measurements: other work of the machine only makes values larger. */
export function lower(first: readonly Value[], second: readonly Value[]): Value[] {
  return first.map((one) => {
    const again = second.find(({ name }) => name === one.name)
    return again !== undefined && again.value < one.value ? again : one
  })
}

/** Keeps the largest value of several steps. */
export function createLargest(name: string) {
  let largest: Value = { name, value: 0 }
  return {
    add(detail: string, value: number): void {
      if (value > largest.value) largest = { name, value, detail }
    },
    value: (): Value => largest,
  }
}
