import { describe, expect, test } from 'bun:test'
import { type Figures, figuresOf, leadOver, markdownTable, type Row } from './table.ts'

const figures = (changed: Partial<Figures> = {}): Figures => ({
  memoryBytesPerUser: 4096,
  connectsPerSecond: 10_000,
  connectsPerCpuSecond: 12_000,
  warmConnectsPerSecond: 11_000,
  cpuSecondsPer100kDeliveries: 0.5,
  sustainedDeliveriesPerSecond: 120_000,
  cpuSecondsPer100kAtHalfLoad: 0.25,
  p99AtHalfLoadMs: 55.26,
  errors: 0,
  ...changed,
})
const measured = (name: string, title: string, changed?: Partial<Figures>): Row => ({
  name,
  title,
  state: 'measured',
  figures: figures(changed),
})

const rows: Row[] = [
  measured('greendot', 'Greendot'),
  measured('socketio', 'Socket.IO', { memoryBytesPerUser: 16_384, connectsPerSecond: 2_000 }),
  measured('ejabberd', 'ejabberd', { connectsPerSecond: 300, cpuSecondsPer100kDeliveries: 4 }),
  { name: 'centrifugo', title: 'Centrifugo', state: 'missing', why: 'not installed' },
]

describe('[X7] the table of a comparison', () => {
  test('[X7] has a row for each server, with units, and says why one has no figures', () => {
    const lines = markdownTable(rows).split('\n')
    const cells = (line: string) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1)
    expect(cells(lines[2]!)).toEqual([
      'Greendot',
      '4.00 KB',
      '10,000',
      '12,000',
      '11,000',
      '0.50',
      '120,000',
      '0.25',
      '55.3 ms',
      '0',
    ])
    expect(cells(lines[5]!)).toEqual(['Centrifugo', '', '', '', '', '', '', '', '', ''])
    expect(lines.at(-1)).toBe('Centrifugo: not measured, not installed')
    expect(new Set(lines.slice(0, 7).map((line) => line.length)).size).toBe(1)
  })

  test('[X7] compares with the best of the others in each column, whichever that is', () => {
    expect(leadOver(rows, 'greendot')?.slice(0, 4)).toEqual(['1.0 ×', '5.0 ×', '1.0 ×', '1.0 ×'])
    const others = [rows[0]!, rows[1]!]
    expect(leadOver(others, 'greendot')?.slice(0, 2)).toEqual(['4.0 ×', '5.0 ×'])
  })

  test('[X7] compares nothing when nothing else was measured', () => {
    expect(leadOver([rows[0]!, rows[3]!], 'greendot')).toBeNull()
    expect(leadOver(rows.slice(1), 'greendot')).toBeNull()
  })

  test('[X7] shows a figure that could not be had as a dash', () => {
    const row = measured('greendot', 'Greendot', { p99AtHalfLoadMs: Number.NaN })
    expect(markdownTable([row])).toContain('| –')
  })

  test('[X7] has the same numbers for programs, and none for what could not be had', () => {
    const row = measured('greendot', 'Greendot', { p99AtHalfLoadMs: Number.NaN })
    const figures = figuresOf([row, rows[3]!])
    expect(figures[0]).toEqual({
      name: 'greendot_kb_per_user',
      label: 'Greendot: memory per user',
      value: 4,
      unit: 'KB',
    })
    expect(figures.map(({ name }) => name)).not.toContain('greendot_half_load_p99_ms')
    expect(figures.length).toBe(8)
  })

  test('[X7] says where Greendot is behind, too', () => {
    const slow = measured('greendot', 'Greendot', { p99AtHalfLoadMs: 100 })
    const quick = measured('socketio', 'Socket.IO', { p99AtHalfLoadMs: 4 })
    expect(leadOver([slow, quick], 'greendot')?.[7]).toBe('0.04 ×')
  })
})
