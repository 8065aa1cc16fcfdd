// The report: one HTML file with everything in it, readable without a network.
// The figures are in the markup; a script draws the charts from the results, which are embedded as JSON.
// Colours and fonts are those of the dashboard.

import uplotScript from 'uplot/dist/uPlot.iife.min.js' with { type: 'text' }
import uplotStyle from 'uplot/dist/uPlot.min.css' with { type: 'text' }
import baseStyle from '../../../dashboard/src/styles/base.css' with { type: 'text' }
import type { Result, Series } from '../figures/result.ts'
import { words } from '../figures/result.ts'
import chartsScript from './charts.client.js' with { type: 'text' }
import pageStyle from './page.css' with { type: 'text' }

const CHARTS: Readonly<Record<Series['chart'], string>> = {
  rates: 'Rates, a second',
  latency: 'Latency over time',
  cpu: 'CPU, percent of a core',
  memory: 'Memory, MB',
  connections: 'Connections',
}

export function renderReport(results: readonly Result[]): string {
  const [first] = results
  const title = `Benchmark: ${results.map(({ scenario }) => scenario).join(', ')}`
  const { cpu, cores, memoryBytes, system } = first!.machine
  const gib = (memoryBytes / 2 ** 30).toFixed(0)
  const versions = Object.entries(first!.versions).map(([name, version]) => `${name} ${version}`)
  // A "<" in the data must not end the script element.
  const data = JSON.stringify(results).replaceAll('<', '\\u003c')
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${uplotStyle}</style>
<style>${baseStyle}</style>
<style>${pageStyle}</style>
<header>
<h1>${escaped(title)}</h1>
<p class="soft">${escaped(`${first!.date.slice(0, 16).replace('T', ' ')} UTC, ${versions.join(', ')}`)}</p>
<p class="soft">${escaped(`${cpu}, ${cores} cores, ${gib} GiB, ${system}`)}</p>
<p><code>${escaped(first!.command)}</code></p>
</header>
${results.map(section).join('\n')}
<script type="application/json" id="results">${data}</script>
<script>${uplotScript}</script>
<script type="module">${chartsScript}</script>
</html>
`
}

function section(result: Result, index: number): string {
  const { scenario, subject, figures, problems, notes, table } = result
  const rows = figures.map((one) => `<tr><th>${escaped(one.label)}</th><td>${escaped(words(one))}</td></tr>`)
  const faults = problems.map((problem) => `<p class="fault">${escaped(problem)}</p>`)
  return `<section>
<h2>${escaped(scenario)} <span class="soft">${escaped(subject)}</span></h2>
<div class="panel">
${table === undefined ? `<table>${rows.join('')}</table>` : `<pre>${escaped(table)}</pre>`}
${faults.length === 0 ? '<p class="good">No errors</p>' : faults.join('')}
</div>
<div class="charts">${chartsOf(result, index).join('')}</div>
<ul class="notes">${notes.map((note) => `<li>${escaped(note)}</li>`).join('')}</ul>
</section>`
}

function chartsOf({ curves, series, timeS }: Result, index: number): string[] {
  const charts: string[] = []
  if (curves.some(({ count }) => count > 0))
    charts.push(chart('curve', 'Latency by percentile', 'percentile', index))
  if (timeS.length < 2) return charts
  for (const [kind, title] of Object.entries(CHARTS)) {
    const hasValues = series.some((one) => one.chart === kind && one.values.some((value) => value !== null))
    if (hasValues) charts.push(chart(kind, title, 'time', index))
  }
  return charts
}

const chart = (kind: string, title: string, x: string, index: number): string =>
  `<figure class="panel" style="margin:0"><h3>${escaped(title)}</h3><div role="img" aria-label="${escaped(title)}" ` +
  `data-chart="${kind}" data-x="${x}" data-result="${index}"></div></figure>`

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
