// From the declarations of routes to an OpenAPI 3.1 document. The guard checks by the same declarations, so a route
// cannot be served and left out, or described differently. There is no document with a contradictory declaration.
import type { z } from 'zod'
import type { AnswerShape, Method, Route, Routes, Shape, Who } from '../route.ts'
import { createRefusals, type Refusals } from './refusals.ts'
import { createSchemas, type JsonSchema, type Schemas } from './schemas.ts'

const GROUPS: Record<Who, { name: string; description: string }> = {
  caller: { name: 'For users and backends', description: 'With a user token or a server key.' },
  user: { name: 'For users', description: 'With a user token. Acts for the user of the token.' },
  server: { name: 'For backends', description: 'With a server key.' },
  anyone: { name: 'For anyone', description: 'Without a token.' },
}

const SECURITY: Record<Who, object[]> = {
  caller: [{ userToken: [] }, { serverKey: [] }],
  user: [{ userToken: [] }],
  server: [{ serverKey: [] }],
  anyone: [],
}

const SECURITY_SCHEMES = {
  userToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'Acts for one user: `sub` is the user id, `exp` is required. In dev mode `dev:alice` is alice.',
  },
  serverKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'Acts for your backend: one of the configured `server_keys`. In dev mode `dev` is one.',
  },
  tokenInUrl: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'The same token in the URL, only where browsers cannot send headers.',
  },
}

const DESCRIPTION = `Who is here, right now, on which devices.

Answers may get new fields at any time: ignore fields you do not know. Requests have no other fields and
parameters than described: others are refused. Instants are Unix milliseconds. A refused request changes nothing
and is answered with a problem document: decide by its \`code\`. Every GET answers HEAD as well, and a method that a path does not have gets 405 with \`Allow\`.

To receive changes instead of polling, open the WebSocket at \`/api/v1/ws?token=…\`.`

export type OpenApiDocument = Record<string, unknown>

/** The whole takes a tenth of a second or more, so `pause` is awaited between two operations. */
export async function openapi(
  routes: Routes,
  version: string,
  pause: () => Promise<void>,
): Promise<OpenApiDocument> {
  const schemas = createSchemas()
  const refusals = createRefusals(schemas)
  const paths: Record<string, Record<string, object>> = {}
  for (const [path, methods] of Object.entries(routes)) {
    const operations: Record<string, object> = {}
    for (const [method, route] of Object.entries(methods)) {
      operations[method.toLowerCase()] = operation(path, method as Method, route, schemas, refusals)
      await pause()
    }
    paths[path.replace(/:(\w+)/g, '{$1}')] = operations
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Greendot',
      version,
      summary: 'Presence for apps',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: Object.values(GROUPS),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      responses: refusals.shared(),
      schemas: schemas.named(),
    },
  }
}

function operation(path: string, method: Method, route: Route, schemas: Schemas, refusals: Refusals): object {
  const { for: who, summary, description, params = {}, query = {}, body, takesTokenInUrl, answers } = route
  const inPath = Array.from(path.matchAll(/:(\w+)/g), ([, name]) => name!)
  if (inPath.toSorted().join() !== Object.keys(params).toSorted().join())
    throw new Error(`${method} ${path} declares the parameters "${Object.keys(params)}"`)
  const parameters = [...parametersIn('path', params, schemas), ...parametersIn('query', query, schemas)]
  const answered = Object.entries(answers).map(([status, answer]) => [status, responseOf(answer, schemas)])
  return {
    operationId: operationIdOf(path, method),
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [GROUPS[who].name],
    security: [...SECURITY[who], ...(takesTokenInUrl ? [{ tokenInUrl: [] }] : [])],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: jsonContent(body, schemas) } }),
    responses: refusals.beside(Object.fromEntries(answered), route),
  }
}

/** `GET /api/v1/presence/:user_id` as `getPresenceByUserId`, for generated clients. */
function operationIdOf(path: string, method: Method): string {
  const words = path
    .replace(/^\/api\/v1/, '')
    .replaceAll(':', 'by_')
    .split(/[^a-z0-9]+/i)
    .filter((word) => word !== '')
  return [method.toLowerCase(), ...words.map((word) => word[0]!.toUpperCase() + word.slice(1))].join('')
}

interface Parameter {
  name: string
  required: boolean
}

function parametersIn(place: 'path' | 'query', shape: Shape, schemas: Schemas): Parameter[] {
  const parameters = Object.entries(shape).map(([name, schema]) => {
    const { description, ...rest } = schemas.of(schema)
    return {
      name,
      in: place,
      required: place === 'path' || !schema.safeParse(undefined).success,
      ...(description === undefined ? {} : { description }),
      schema: rest,
      // One parameter with commas, not one per item.
      ...(rest.type === 'array' ? { style: 'form', explode: false } : {}),
    }
  })
  return parameters.toSorted((a, b) => Number(b.required) - Number(a.required))
}

const jsonContent = (schema: z.ZodType, schemas: Schemas): Record<string, { schema: JsonSchema }> => ({
  'application/json': { schema: schemas.ofBody(schema) },
})

function responseOf({ description, content, headers }: AnswerShape, schemas: Schemas): object {
  const said = Object.entries(headers).map(([name, says]) => [
    name,
    { description: says, schema: { type: 'string' } },
  ])
  return {
    description,
    ...(said.length === 0 ? {} : { headers: Object.fromEntries(said) }),
    ...(content === null
      ? {}
      : {
          content: {
            [content.type]: {
              ...schemaOf(content, schemas),
              ...(content.example === undefined ? {} : { example: content.example }),
            },
          },
        }),
  }
}

/** A stream has no end, so it is not one text, and OpenAPI 3.1 has no word for the events in it. */
function schemaOf({ type, schema }: NonNullable<AnswerShape['content']>, schemas: Schemas): object {
  if (schema !== null) return { schema: schemas.of(schema) }
  return type === 'text/event-stream' ? {} : { schema: { type: 'string' } }
}
