// Python's client of gRPC, for the tests that call the server with it.
import { resolve } from 'node:path'
import { type FoundPython, findPythonPackages } from './python.ts'

const REQUIREMENTS = resolve(import.meta.dir, '../grpc/requirements.txt')

let grpcio: Promise<FoundPython> | null = null

/** Finds grpcio, fetching it if possible; searched once per process. */
export function findGrpcio(): Promise<FoundPython> {
  grpcio ??= findPythonPackages('grpcio', REQUIREMENTS)
  return grpcio
}
