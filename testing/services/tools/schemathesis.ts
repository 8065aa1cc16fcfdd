// Schemathesis, for the tests that call the API as its OpenAPI document says. About 20 MB to fetch.
import { resolve } from 'node:path'
import { type FoundPackages, findPythonPackages } from './python-packages.ts'

const REQUIREMENTS = resolve(import.meta.dir, '../../openapi/requirements.txt')

let schemathesis: Promise<FoundPackages> | null = null

/** Finds Schemathesis, fetching it if possible; searched once per process. */
export function findSchemathesis(): Promise<FoundPackages> {
  schemathesis ??= findPythonPackages('Schemathesis', REQUIREMENTS)
  return schemathesis
}
