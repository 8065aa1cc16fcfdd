// Kafka's client for Python, for the test of the example that uses it.
import { resolve } from 'node:path'
import { type FoundPackages, findPythonPackages } from './python-packages.ts'

const REQUIREMENTS = resolve(import.meta.dir, '../../../examples/kafka-consumer/requirements.txt')

let found: Promise<FoundPackages> | null = null

/** Finds it, fetching it if possible; searched once per process. */
export function findKafkaPython(): Promise<FoundPackages> {
  found ??= findPythonPackages('kafka-python', REQUIREMENTS)
  return found
}
