import { describe, expect, test } from 'bun:test'
import { shippedConstants } from './constants.ts'
import { withMeasured } from './measured.ts'

const constants = shippedConstants()
const measured = (value: unknown) => withMeasured(constants, JSON.stringify(value), 'result.json')

describe('[C9] constants of a benchmark', () => {
  test('take the place of those that ship, assumptions too', () => {
    const read = measured({
      scenario: 'whatever else a result holds',
      machine: { cpu: 'Fast', cores: 2, memoryBytes: 24 * 2 ** 30, system: 'linux' },
      date: '2026-12-01T10:00:00.000Z',
      command: 'greendot bench idle',
      versions: { greendot: '1.2.3', commit: 'abc1234' },
      constants: { edge_bytes: { value: 3.25678, unit: 'any' }, update_cpu_us: { value: 1 } },
    })
    if (!read.ok) throw new Error(read.problem)
    const place = {
      from: 'greendot bench idle, commit abc1234',
      machine: '2 cores of Fast, 24 GiB',
      measuredAt: '2026-12-01',
    }
    expect(read.value.get('edge_bytes')).toEqual({ ...constants.get('edge_bytes')!, value: 3.257, ...place })
    expect(read.value.get('update_cpu_us')).toMatchObject({ value: 1, ...place })
    expect(read.value.get('beat_cpu_us')).toEqual(constants.get('beat_cpu_us')!)
    expect(constants.get('edge_bytes')!.value).not.toBe(3.257)
  })

  test('name the file where a result does not say how it came about', () => {
    const read = measured({ constants: { disk_month_usd: { value: 0.2 } } })
    if (!read.ok) throw new Error(read.problem)
    const place = { from: 'result.json', machine: null, measuredAt: null }
    expect(read.value.get('disk_month_usd')).toMatchObject({ value: 0.2, ...place })
  })

  test('are refused when they cannot be read or mean nothing', () => {
    expect(withMeasured(constants, 'no', 'r.json')).toEqual({ ok: false, problem: 'r.json is not JSON' })
    for (const [value, problem] of [
      [{}, 'constants'],
      [{ constants: {} }, 'holds no constants'],
      [{ constants: { beat_cpu_us: { value: '1' } } }, 'constants.beat_cpu_us.value'],
      [{ constants: { beat_cpu_us: { value: -1 } } }, 'constants.beat_cpu_us.value'],
      [{ constants: { beat_cpu_u: { value: 1 } } }, 'did you mean beat_cpu_us?'],
      [{ constants: { 'something else entirely': { value: 1 } } }, 'there is no constant'],
    ] as const) {
      expect(measured(value)).toEqual({ ok: false, problem: expect.stringContaining(problem) })
    }
  })
})
