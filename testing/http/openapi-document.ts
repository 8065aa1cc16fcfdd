// The OpenAPI document of a server, as a test reads it: validated against OpenAPI 3.1 by a library, and
// as a list of operations to drive.
import { Validator } from '@seriousme/openapi-schema-validator'
import type { JsonSchema } from './openapi-schemas.ts'

export interface Document {
  openapi: string
  info: { title: string; version: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, DocumentedOperation>>
  components: {
    securitySchemes: Record<string, object>
    responses: Record<string, Response>
    schemas: Record<string, JsonSchema>
  }
}

interface DocumentedOperation {
  operationId: string
  summary: string
  tags: string[]
  security: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, Response | { $ref: string }>
}

type Content = Record<string, { schema: JsonSchema }>

interface Response {
  description: string
  content?: Content
}

export interface Parameter {
  name: string
  in: 'path' | 'query'
  required: boolean
  schema: JsonSchema
  style?: string
  explode?: boolean
}

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

/** Throws unless it is a valid document of OpenAPI 3.1 whose references all lead somewhere. */
export async function parseDocument(text: string): Promise<Document> {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(JSON.parse(text))
  if (!valid) throw new Error(`not a valid OpenAPI document: ${JSON.stringify(errors)}`)
  if (validator.version !== '3.1') throw new Error(`OpenAPI ${validator.version} instead of 3.1`)
  return JSON.parse(text)
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
  return document.components.responses[answer.$ref.replace('#/components/responses/', '')]!
}

function whoOf(schemes: string[]): Operation['who'] {
  const [user, server] = [schemes.includes('userToken'), schemes.includes('serverKey')]
  if (user && server) return 'caller'
  return user ? 'user' : server ? 'server' : 'anyone'
}
