// Checks values against the schemas of the OpenAPI document, with Ajv. Ajv is strict here: a keyword or a
// format that it does not know fails. Answers may have documented fields only, although clients are told
// to ignore fields they do not know.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'

export type JsonSchema = Record<string, unknown>

export interface SchemaChecker {
  /** What is wrong with a value, each with its place; empty when it is valid. */
  problems(schema: JsonSchema, value: unknown): string[]
  /** The same, and fields that are not documented are wrong too. */
  problemsOfAnswer(schema: JsonSchema, value: unknown): string[]
  resolve(schema: JsonSchema): JsonSchema
}

const REFERENCE = '#/components/schemas/'
/** Keywords with one schema each, and with several. */
const INNER = ['items', 'additionalProperties', 'propertyNames']
const INNER_BY_NAME = ['properties']
const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf']

export function createSchemaChecker(schemas: Record<string, JsonSchema>): SchemaChecker {
  const asDocumented = createValidator(schemas)
  const closedSchemas = Object.entries(schemas).map(([name, schema]) => [name, withClosedInside(schema)])
  const closed = createValidator(Object.fromEntries(closedSchemas))

  return {
    problems: (schema, value) => asDocumented(schema, schema, value),
    problemsOfAnswer: (schema, value) => closed(schema, closedSchema(schema), value),
    resolve(schema) {
      if (schema.$ref === undefined) return schema
      const target = schemas[String(schema.$ref).replace(REFERENCE, '')]
      if (target === undefined) throw new Error(`nothing is called ${schema.$ref}`)
      return { ...target, ...schema }
    },
  }
}

function createValidator(schemas: Record<string, JsonSchema>) {
  // Inherited names such as toString are ordinary names of fields.
  const ajv = new Ajv2020({ allErrors: true, ownProperties: true, strictTypes: false, strictTuples: false })
  // References start at the root of a schema, so every schema carries the components with it.
  ajv.addVocabulary(['components'])
  const compiled = new Map<JsonSchema, ValidateFunction>()

  return (key: JsonSchema, schema: JsonSchema, value: unknown): string[] => {
    let validate = compiled.get(key)
    if (validate === undefined) {
      validate = ajv.compile({ ...schema, components: { schemas } })
      compiled.set(key, validate)
    }
    return validate(value) ? [] : (validate.errors ?? []).map(describe)
  }
}

function describe({ instancePath, message, params }: ErrorObject): string {
  return `$${instancePath} ${message} ${JSON.stringify(params)}`
}

/** Refuses fields that no part of the schema evaluates: neither its own, nor a reference, nor an alternative. */
function closedSchema(schema: JsonSchema): JsonSchema {
  const isOfObjects = ['properties', '$ref', ...ALTERNATIVES].some((keyword) => keyword in schema)
  const inside = withClosedInside(schema)
  return isOfObjects ? { ...inside, unevaluatedProperties: false } : inside
}

/** Closes what is inside a schema. The place that refers to it closes the schema itself, all parts together. */
function withClosedInside(schema: JsonSchema): JsonSchema {
  const made = Object.entries(schema).map(([keyword, wanted]) => {
    if (INNER.includes(keyword) && typeof wanted === 'object')
      return [keyword, closedSchema(wanted as JsonSchema)]
    if (INNER_BY_NAME.includes(keyword)) {
      const inner = Object.entries(wanted as Record<string, JsonSchema>)
      return [keyword, Object.fromEntries(inner.map(([name, part]) => [name, closedSchema(part)]))]
    }
    if (ALTERNATIVES.includes(keyword)) return [keyword, (wanted as JsonSchema[]).map(withClosedInside)]
    return [keyword, wanted]
  })
  return Object.fromEntries(made)
}
