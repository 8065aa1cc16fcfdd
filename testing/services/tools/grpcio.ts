// Python's client of gRPC, for the tests that call the server with it.
import { resolve } from 'node:path'
import { type FoundPackages, findPythonPackages } from './python-packages.ts'

const REQUIREMENTS = resolve(import.meta.dir, '../../grpc/requirements.txt')

let grpcio: Promise<FoundPackages> | null = null

/** Finds grpcio, fetching it if possible; searched once per process. */
export function findGrpcio(): Promise<FoundPackages> {
  grpcio ??= findPythonPackages('grpcio', REQUIREMENTS)
  return grpcio
}
