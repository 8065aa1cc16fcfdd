// The OpenAPI document of a server, as a test reads it: held against the structure that OpenAPI 3.1
// demands (as far as we use it; anything else fails), and as a list of operations to drive.
import { z } from 'zod'
import type { JsonSchema } from './json-schema.ts'

const schema = z.record(z.string(), z.unknown()) satisfies z.ZodType<JsonSchema>
const sentence = z.string().min(2)
const header = z.strictObject({ description: sentence, schema })
const content = z.record(
  z.string().regex(/^[a-z]+\/[a-z0-9+.-]+$/),
  z.strictObject({ schema, example: z.string().optional() }),
)
const response = z.strictObject({
  description: sentence,
  headers: z.record(z.string(), header).optional(),
  content: content.optional(),
})
const reference = z.strictObject({ $ref: z.string().startsWith('#/components/responses/') })
const parameter = z.strictObject({
  name: z.string(),
  in: z.enum(['path', 'query']),
  required: z.boolean(),
  description: sentence.optional(),
  schema,
  style: z.literal('form').optional(),
  explode: z.literal(false).optional(),
})
const operation = z.strictObject({
  operationId: z.string().regex(/^[a-z][A-Za-z0-9]+$/),
  summary: sentence.regex(/[^.]$/),
  description: sentence.optional(),
  tags: z.array(z.string()).length(1),
  security: z.array(z.record(z.string(), z.tuple([]))),
  parameters: z.array(parameter).optional(),
  requestBody: z.strictObject({ required: z.literal(true), content }).optional(),
  responses: z.record(z.string().regex(/^[1-5]\d\d$/), z.union([reference, response])),
})
const securityScheme = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('http'),
    scheme: z.literal('bearer'),
    bearerFormat: z.string().optional(),
    description: sentence,
  }),
  z.strictObject({
    type: z.literal('apiKey'),
    in: z.literal('query'),
    name: z.string(),
    description: sentence,
  }),
])

export const documentShape = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.strictObject({
    title: sentence,
    version: z.string().regex(/^\d+\.\d+\.\d+/),
    summary: sentence,
    description: sentence,
    license: z.strictObject({ name: sentence, identifier: sentence }),
  }),
  servers: z.array(z.strictObject({ url: z.string() })).min(1),
  tags: z.array(z.strictObject({ name: sentence, description: sentence })),
  paths: z.record(
    z.string().startsWith('/'),
    z.partialRecord(z.enum(['get', 'put', 'post', 'delete']), operation),
  ),
  components: z.strictObject({
    securitySchemes: z.record(z.string(), securityScheme),
    responses: z.record(z.string(), response),
    schemas: z.record(z.string().regex(/^[A-Z][A-Za-z]+$/), schema),
  }),
})

export type Document = z.infer<typeof documentShape>
type Response = z.infer<typeof response>
export type Parameter = z.infer<typeof parameter>

export interface Operation {
  /** `PUT /api/v1/presence/status`, for titles and messages. */
  name: string
  method: string
  /** With `{name}` for parameters. */
  path: string
  /** Every method of the path. */
  allowed: string[]
  who: 'anyone' | 'user' | 'server' | 'caller'
  parameters: Parameter[]
  body: JsonSchema | null
  takesTokenInUrl: boolean
  responses: Map<number, Response>
}

export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([lower, one]) => {
      const method = lower.toUpperCase()
      const schemes = one.security.flatMap((scheme) => Object.keys(scheme))
      const answers = Object.entries(one.responses).map(
        ([status, answer]) => [Number(status), resolved(document, answer)] as const,
      )
      return {
        name: `${method} ${path}`,
        method,
        path,
        allowed: Object.keys(methods).map((other) => other.toUpperCase()),
        who: whoOf(schemes),
        parameters: one.parameters ?? [],
        body: one.requestBody?.content['application/json']?.schema ?? null,
        takesTokenInUrl: schemes.includes('tokenInUrl'),
        responses: new Map(answers),
      }
    }),
  )
}

function resolved(document: Document, answer: Response | { $ref: string }): Response {
  if (!('$ref' in answer)) return answer
  const found = document.components.responses[answer.$ref.replace('#/components/responses/', '')]
  if (found === undefined) throw new Error(`nothing is called ${answer.$ref}`)
  return found
}

function whoOf(schemes: string[]): Operation['who'] {
  const [user, server] = [schemes.includes('userToken'), schemes.includes('serverKey')]
  if (user && server) return 'caller'
  return user ? 'user' : server ? 'server' : 'anyone'
}
