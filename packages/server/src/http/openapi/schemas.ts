// Zod schemas as JSON Schema for the OpenAPI document. A schema with an id is written once, under components,
// and referred to everywhere else.
import { z } from 'zod'

export type JsonSchema = Record<string, unknown>

export interface Schemas {
  of(schema: z.ZodType): JsonSchema
  /** The schema of a request body: its objects have no other fields, because the server refuses them. */
  ofBody(schema: z.ZodType): JsonSchema
  /** Schemas with an id that were used so far. */
  named(): Record<string, JsonSchema>
}

export function createSchemas(): Schemas {
  const named: Record<string, JsonSchema> = {}

  function convert(schema: z.ZodType, override: Override): JsonSchema {
    // The input side: what clients send, before transforms.
    const made = z.toJSONSchema(schema, { io: 'input', override })
    const { $schema: _, $defs = {}, ...rest } = referringToComponents(made)
    Object.assign(named, $defs)
    return rest
  }

  return {
    of: (schema) => convert(schema, adjust),
    ofBody: (schema) => convert(schema, adjustBody),
    named: () => named,
  }
}

function referringToComponents(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')
  return JSON.parse(text) as JsonSchema
}

interface Converted {
  zodSchema: z.core.$ZodTypes
  jsonSchema: JsonSchema
}
type Override = (converted: Converted) => void

function adjustBody(converted: Converted): void {
  adjust(converted)
  if (converted.zodSchema._zod.def.type === 'object') converted.jsonSchema.additionalProperties ??= false
}

function adjust({ zodSchema, jsonSchema }: Converted): void {
  // Our examples are inputs; Zod takes them for outputs and would drop them.
  const examples = z.globalRegistry.get(zodSchema)?.examples
  if (examples !== undefined) jsonSchema.examples = examples
  // Safe-integer limits are implied.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}
