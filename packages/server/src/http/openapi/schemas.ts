// Zod schemas as JSON Schema for the OpenAPI document: what carries an id is written once, under
// components, and referred to everywhere else.
import { z } from 'zod'

export type JsonSchema = Record<string, unknown>

export interface Schemas {
  of(schema: z.ZodType): JsonSchema
  /** Those with an id that have been used so far. */
  named(): Record<string, JsonSchema>
}

export function createSchemas(): Schemas {
  const named: Record<string, JsonSchema> = {}

  function of(schema: z.ZodType): JsonSchema {
    // As it is sent: what a schema turns its input into is nobody's business outside.
    const made = z.toJSONSchema(schema, { io: 'input', override })
    const { $schema: _, $defs = {}, ...rest } = referringToComponents(made)
    Object.assign(named, $defs)
    return rest
  }

  return { of, named: () => named }
}

function referringToComponents(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')
  return JSON.parse(text) as JsonSchema
}

function override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }): void {
  // Ours are examples of what is sent; Zod takes them for what comes out and leaves them away.
  const examples = z.globalRegistry.get(zodSchema)?.examples
  if (examples !== undefined) jsonSchema.examples = examples
  // Limits that every number in JSON has anyway say nothing.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}
