// One chart over time, drawn by uPlot in the colours of the page. The list below it has the current values as
// text, for screen readers.
import uPlot from 'uplot'
import { h, setText } from '../dom.ts'
import { onTheme } from '../theme.ts'
import { timeWords } from '../words.ts'

const HEIGHT = 180
/** The axis spans at least this, so that the first samples are not stretched. */
const SPAN_S_MIN = 300
const STEPS_S = [60, 120, 300, 600, 900, 1800]

export interface Line {
  label: string
  /** A custom property of the styles, without the dashes. */
  color: string
  isDashed?: boolean
  isFilled?: boolean
  /** On the right axis, because its values have another order of magnitude. */
  isRight?: boolean
  format(value: number): string
}

export interface Chart {
  element: HTMLElement
  /** Instants in milliseconds, and for each line as many values. */
  show(instants: readonly number[], values: readonly (readonly (number | null)[])[]): void
  /** Some words beside the values. */
  say(words: string): void
  stop(): void
}

const AXIS_SIZE = 48
const fromZero: uPlot.Range.Function = (_, __, max) => [0, Math.max(1, (max ?? 0) * 1.15)]
const tickWords = (seconds: number): string => timeWords(seconds * 1000, seconds * 1000)

/** A canvas has no styles, so colours are read from the page at every drawing. */
const colorOf = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()

export function createChart(title: string, lines: readonly Line[]): Chart {
  const note = h('p', { class: 'soft', hidden: true })
  const place = h('div', { class: 'chart-place', role: 'img' })
  const empty = h('p', { class: 'chart-empty soft' }, 'The first samples are on their way.')
  const present = lines.map(({ label, color, isDashed }) => {
    const value = h('dd', {}, '–')
    const swatch = h('span', { class: `swatch${isDashed ? ' dashed' : ''}` })
    swatch.style.setProperty('--color', `var(--${color})`)
    return { value, element: h('div', {}, h('dt', {}, swatch, label), value) }
  })
  const element = h(
    'section',
    { class: 'panel chart' },
    h('h2', {}, title),
    place,
    empty,
    h('div', { class: 'legend' }, h('dl', { class: 'legend' }, ...present.map((one) => one.element)), note),
  )
  const hasRight = lines.some(({ isRight }) => isRight)
  let plot: uPlot | null = null

  function showValues(index: number | null): void {
    if (plot === null) return
    const at = index ?? plot.data[0].length - 1
    for (const [row, { format }] of lines.entries()) {
      const value = plot.data[row + 1]?.[at] ?? null
      setText(present[row]!.value, value === null ? '–' : format(value))
    }
  }

  function options(width: number): uPlot.Options {
    const axis: uPlot.Axis = {
      stroke: () => colorOf('soft'),
      font: '12px system-ui',
      grid: { stroke: () => colorOf('line'), width: 1 },
      ticks: { show: false },
    }
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, points: { size: 7 } },
      scales: {
        x: { range: (_, min, max) => [Math.min(min, max - SPAN_S_MIN), max] },
        y: { range: fromZero },
        right: { range: fromZero },
      },
      axes: [
        { ...axis, space: 70, size: 30, incrs: STEPS_S, values: (_, ticks) => ticks.map(tickWords) },
        { ...axis, size: AXIS_SIZE },
        ...(hasRight
          ? [{ ...axis, size: AXIS_SIZE, scale: 'right', side: 1, grid: { show: false } } as const]
          : []),
      ],
      series: [
        {},
        ...lines.map(
          ({ label, color, isDashed, isFilled, isRight }): uPlot.Series => ({
            label,
            scale: isRight ? 'right' : 'y',
            stroke: () => colorOf(color),
            width: 2,
            points: { show: false },
            ...(isDashed ? { dash: [5, 4] } : {}),
            ...(isFilled ? { fill: () => `color-mix(in srgb, ${colorOf(color)} 14%, transparent)` } : {}),
          }),
        ),
      ],
      hooks: { setCursor: [({ cursor }) => showValues(cursor.idx ?? null)] },
    }
  }

  const sizes = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0)
    if (width > 0) plot?.setSize({ width, height: HEIGHT })
  })
  sizes.observe(place)
  const offTheme = onTheme(() => plot?.redraw(false, true))

  return {
    element,
    stop() {
      sizes.disconnect()
      offTheme()
      plot?.destroy()
    },
    say(words) {
      note.hidden = false
      setText(note, words)
    },
    show(instants, values) {
      empty.hidden = instants.length > 1
      place.hidden = instants.length < 2
      if (instants.length < 2 || place.clientWidth === 0) return
      const data = [instants.map((at) => at / 1000), ...values] as uPlot.AlignedData
      if (plot) plot.setData(data)
      else plot = new uPlot(options(place.clientWidth), data, place)
      showValues(plot.cursor.idx ?? null)
      const spoken = lines.map(({ label }, row) => `${label} ${present[row]!.value.textContent}`).join(', ')
      place.setAttribute('aria-label', `${title} over time. Now: ${spoken}`)
    },
  }
}
