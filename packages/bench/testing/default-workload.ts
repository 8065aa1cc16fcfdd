// The workload of the capacity model without flags, for tests that change a part of it.
import { readWorkload, type Workload } from '../src/capacity/workload.ts'

const read = readWorkload(() => null)
if (!read.ok) throw new Error(read.problem)

export const DEFAULT_WORKLOAD: Workload = read.value
