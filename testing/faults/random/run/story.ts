// A violation as a readable timeline: what the user did and chose, what the viewer was shown, and what was broken.
import type { Violation } from '../checks/violation.ts'
import type { History } from '../history/history.ts'

const BEFORE_MAX = 40
const AFTER_MS = 1_500

export function storyOf(history: History, violation: Violation): string {
  const lines: { at: number; text: string }[] = [...history.remarks]
  const say = (at: number, text: string): void => {
    if (Number.isFinite(at)) lines.push({ at, text })
  }
  for (const { name, from, to, servers } of history.faults) {
    say(from, `FAULT ${name} begins${servers.length > 0 ? ` (${servers.join(', ')})` : ''}`)
    say(to, `FAULT ${name} ends`)
  }
  const target = history.targets.get(violation.target ?? '')
  for (const { device, server, openedAt, endedAt, ending } of target?.connections ?? []) {
    say(openedAt, `${target!.id}/${device} connected to ${server}`)
    say(endedAt, `${target!.id}/${device} ${ending === 'left' ? 'left' : `is ${ending}`}`)
  }
  for (const { field, value, sentAt, answeredAt, outcome, via } of target?.choices ?? []) {
    say(sentAt, `${target!.id} chooses ${field} = ${value} over ${via}`)
    say(answeredAt, `${target!.id} is answered about ${field} = ${value}: ${outcome}`)
  }
  for (const { viewer, server, from, to } of history.watchings) {
    if (viewer !== violation.viewer) continue
    say(from, `${viewer} watches on ${server}`)
    say(to, `${viewer} is disconnected from ${server}`)
  }
  let last = ''
  for (const one of history.sightings) {
    if (one.target !== violation.target || one.viewer !== violation.viewer) continue
    const { at, status, text, deviceCount, version, via, isDegraded, server } = one
    const shown = `${status}${text === null ? '' : ` "${text}"`}, ${deviceCount} devices, version ${version}`
    // Answers that repeat the one before tell nothing.
    if (via === 'http' && last === shown) continue
    last = shown
    say(at, `  ${via} by ${server} to ${one.viewer}: ${shown}${isDegraded ? ' (degraded)' : ''}`)
  }
  lines.sort((a, b) => a.at - b.at)
  const until = violation.at + AFTER_MS
  const told = lines.filter(({ at }) => at <= until).slice(-BEFORE_MAX)
  const seconds = (at: number) => ((at - history.startedAt) / 1000).toFixed(2).padStart(7)
  return [
    `${seconds(violation.at)} s  ${violation.check.toUpperCase()}: ${violation.what}`,
    ...told.map(({ at, text }) => `    ${seconds(at)}  ${text}`),
  ].join('\n')
}
