// Kafka's client for Python, for the test of the example that uses it.
import { resolve } from 'node:path'
import { type FoundPython, findPythonPackages } from './python.ts'

const REQUIREMENTS = resolve(import.meta.dir, '../../examples/kafka-consumer/requirements.txt')

let found: Promise<FoundPython> | null = null

/** Finds it, fetching it if possible; searched once per process. */
export function findKafkaPython(): Promise<FoundPython> {
  found ??= findPythonPackages('kafka-python', REQUIREMENTS)
  return found
}
