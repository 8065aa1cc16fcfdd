// Every route the server's code declares, whatever a server then serves: the tables in `http/routes/`,
// built without their parts. Building a table touches nothing; only its handlers would.
import { join, resolve } from 'node:path'
import type { LimitedCall } from '../../packages/server/src/http/access/throttle.ts'
import type { Routes, Who } from '../../packages/server/src/http/route.ts'

const FOLDER = resolve(import.meta.dir, '../../packages/server/src/http/routes')

export interface RegisteredRoute {
  method: string
  /** With `:name` for parameters. */
  path: string
  /** The callers it is for, unless a setting opens it to others. */
  who: Who
  limit: LimitedCall | undefined
}

export async function registeredRoutes(): Promise<RegisteredRoute[]> {
  const files = [...new Bun.Glob('*.ts').scanSync(FOLDER)]
  const modules = await Promise.all(files.map((file) => import(join(FOLDER, file)) as Promise<object>))
  const tables = modules.flatMap((module) =>
    Object.entries(module)
      .filter(([name]) => name.endsWith('Routes'))
      .map(([, build]) => (build as (parts: object) => Routes)({})),
  )
  return tables.flatMap((table) =>
    Object.entries(table).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, route]) => ({
        method,
        path,
        who: route.for,
        limit: route.limit,
      })),
    ),
  )
}
