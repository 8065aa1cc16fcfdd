// Draws the charts of a benchmark report with uPlot, in the colours of the page, from the results that
// lie in the page as JSON. Runs in the browser, as it stands here.
const results = JSON.parse(document.getElementById('results').textContent)
const COLORS = ['blue', 'online', 'away', 'violet', 'busy']
const HEIGHT = 230
// A canvas does not support light-dark(), so the colour is read from an element.
const probe = document.body.appendChild(document.createElement('i'))
function color(name) {
  probe.style.color = `var(--${name})`
  return getComputedStyle(probe).color
}
const number = (value) =>
  value.toLocaleString('en', { maximumFractionDigits: value >= 100 ? 0 : value >= 1 ? 1 : 3 })
const plots = []

function axis(more) {
  return {
    stroke: () => color('soft'),
    font: '12px system-ui',
    grid: { stroke: () => color('line'), width: 1 },
    ticks: { show: false },
    ...more,
  }
}

function draw(place, data, lines, axes, scales) {
  // Without a cursor, the legend shows the last values.
  const showLast = (plot) => {
    if (plot.cursor.idx == null) plot.setLegend({ idx: data[0].length - 1 })
  }
  const options = (width) => ({
    width,
    height: HEIGHT,
    padding: [12, 28, 0, 0],
    cursor: { y: false, points: { size: 7 } },
    scales,
    axes,
    hooks: { ready: [showLast], setCursor: [showLast] },
    series: [
      { label: place.dataset.x, value: (_, value) => (value == null ? '–' : place.format(value)) },
      ...lines.map(({ label, unit }, index) => ({
        label,
        stroke: () => color(COLORS[index % COLORS.length]),
        width: 2,
        spanGaps: true,
        points: { show: false },
        value: (_, value) => (value == null ? '–' : `${number(value)} ${unit}`),
      })),
    ],
  })
  const plot = new uPlot(options(place.clientWidth), data, place)
  plots.push(plot)
  new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT })).observe(place)
}

const fromZero = { range: (_, __, max) => [0, Math.max(0.001, (max ?? 0) * 1.1)] }

for (const place of document.querySelectorAll('[data-chart]')) {
  const { timeS, series, curves } = results[Number(place.dataset.result)]
  if (place.dataset.chart === 'curve') {
    // One step to the right is one nine more, as far as there are values to tell them apart.
    const count = Math.max(...curves.map((curve) => curve.count))
    const points = curves[0].points.filter(({ percentile }) => 100 <= (100 - percentile) * count)
    const xs = points.map(({ percentile }) => -Math.log10(1 - percentile / 100))
    const percent = (x) => `${Number((100 * (1 - 10 ** -x)).toPrecision(6))} %`
    place.format = percent
    draw(
      place,
      [xs, ...curves.map((curve) => curve.points.slice(0, xs.length).map(({ ms }) => ms))],
      curves.map(({ label }) => ({ label, unit: 'ms' })),
      [
        axis({
          splits: ({ width }) =>
            (width < 420 ? [1, 3, 5] : [0, 1, 2, 3, 4, 5]).filter((x) => x <= xs.at(-1) + 0.01),
          values: (_, ticks) => ticks.map(percent),
        }),
        axis({ size: 60, values: (_, ticks) => ticks.map((tick) => `${number(tick)} ms`) }),
      ],
      { x: { time: false }, y: fromZero },
    )
  } else {
    const lines = series.filter(({ chart }) => chart === place.dataset.chart)
    place.format = (value) => `${value} s`
    draw(
      place,
      [timeS, ...lines.map(({ values }) => values)],
      lines,
      [
        axis({ values: (_, ticks) => ticks.map((tick) => `${tick} s`) }),
        axis({ size: 70, values: (_, ticks) => ticks.map(number) }),
      ],
      { x: { time: false }, y: fromZero },
    )
  }
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const plot of plots) plot.redraw(false, true)
})
