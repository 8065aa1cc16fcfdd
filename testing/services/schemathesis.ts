// Schemathesis, for the tests that call the API as its OpenAPI document says.
import { resolve } from 'node:path'
import { type FoundPython, findPythonPackages } from './python.ts'

const REQUIREMENTS = resolve(import.meta.dir, '../openapi/requirements.txt')

let schemathesis: Promise<FoundPython> | null = null

/** Finds Schemathesis, fetching it if possible; searched once per process. */
export function findSchemathesis(): Promise<FoundPython> {
  schemathesis ??= findPythonPackages('Schemathesis', REQUIREMENTS)
  return schemathesis
}
