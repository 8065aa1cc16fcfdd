import { describe, expect, test } from 'bun:test'
import { loadsFor, parseOptions, timedUsers } from './options.ts'

function problem(...argv: string[]): string {
  const parsed = parseOptions(argv)
  if (parsed.ok) throw new Error('it was accepted')
  return parsed.problem
}

function options(...argv: string[]) {
  const parsed = parseOptions(argv)
  if (!parsed.ok) throw new Error(parsed.problem)
  return parsed.options
}

describe('the command line of the benchmark', () => {
  test('[C9] a mistake is reported in one sentence with what to do', () => {
    expect(problem()).toContain('say what to measure: connect')
    expect(problem('chrun')).toContain('no scenario "chrun"; there are connect')
    expect(problem('churn', '--userz', '5')).toContain('--userz')
    expect(problem('churn', '--users', 'many')).toBe(
      '--users: "many" is not a whole number from 2 to 1000000',
    )
    expect(problem('churn', '--graph', 'tree')).toContain('is none of ring, random, power-law')
    expect(problem('churn', '--encoding', 'xml')).toContain('is none of json, compact')
    expect(problem('churn', '--users', '5', '--contacts', '5')).toContain('at most 4 contacts')
    expect(problem('churn', '--set', 'flush')).toContain('name=value')
    expect(problem('churn', 'idle', '--out', 'a.json')).toContain('give a folder for several')
    expect(problem('churn', '--server', 'nowhere.ts')).toContain('no file nowhere.ts')
    expect(problem('churn', 'idle', '--table', 'many')).toContain('leave it out for several')
  })

  test('[C9] too many users for the file limit: the message names the processes needed', () => {
    expect(problem('churn', '--users', '51322')).toContain('--gateways 3 --redis')
    expect(problem('churn', '--gateways', '6')).toContain('--redis')
    expect(problem('churn', '--users', '51322', '--gateways', '6', '--redis', '--loads', '2')).toContain(
      'at least 3 processes',
    )
  })

  test('[C9] defaults, settings of the server and repeated flags', () => {
    const given = options('churn', 'idle', '--set', 'flush_ms=20', '--set', 'policy=calm', '--users=100')
    expect(given.scenarios).toEqual(['churn', 'idle'])
    expect(given.settings).toEqual(['--flush-ms=20', '--policy=calm'])
    expect([given.users, given.contacts, given.graph, given.rate]).toEqual([100, 18, 'ring', null])
  })

  test('[C9] several gateways are not pinned, and users get the load processes they need', () => {
    const many = options('churn', '--users', '51322', '--gateways', '6', '--redis')
    expect([many.serverCore, many.loadCore]).toEqual([null, null])
    expect(loadsFor(many)).toBe(3)
    expect(options('churn', '--no-pin').serverCore).toBeNull()
  })

  test('[C3] Kafka goes with Redis, and its processes share the cores', () => {
    expect(problem('churn', '--kafka')).toContain('--redis')
    expect(problem('churn', '--kafka-brokers', '127.0.0.1:9092')).toContain('--redis')
    const own = options('churn', '--kafka', '--redis')
    expect([own.kafka, own.kafkaBrokers, own.serverCore]).toEqual([true, null, null])
    const given = options('churn', '--kafka-brokers', '127.0.0.1:9092', '--redis')
    expect([given.kafka, given.kafkaBrokers]).toEqual([false, '127.0.0.1:9092'])
  })

  test('[C9] users that connect beside all others: as many as the processes have room for', () => {
    const timed = (...argv: string[]) => timedUsers(options('connect', '--rate', '500', ...argv))
    expect(timed('--users', '15000')).toBe(3_000)
    const many = ['--users', '51322', '--gateways', '5', '--redis']
    expect(timed(...many)).toBe(5_000)
    expect(timed(...many, '--loads', '3')).toBe(3 * 18_000 - 51_322)
    expect(timed('--users', '18000')).toBe(0)
    expect(timed('--ramp')).toBe(0)
  })
})
