// The part of JSON Schema that our OpenAPI document uses, as a check. A keyword it does not know fails
// instead of passing everything. Of answers it also demands that every field is documented, although
// clients are told to ignore fields they do not know.
import { isDeepStrictEqual } from 'node:util'

export type JsonSchema = Record<string, unknown>
type Components = Record<string, JsonSchema>

export interface SchemaChecker {
  /** What is wrong with a value, each with its place; empty when it is valid. */
  problems(schema: JsonSchema, value: unknown): string[]
  /** The same, and fields that are not documented are wrong too. */
  problemsOfAnswer(schema: JsonSchema, value: unknown): string[]
  resolve(schema: JsonSchema): JsonSchema
}

const REFERENCE = '#/components/schemas/'

type Check = (wanted: never, value: unknown) => boolean
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isOfType(type: string, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  if (type === 'integer') return Number.isInteger(value)
  // The other types have the names that JavaScript gives them.
  return typeof value === type
}

/** A keyword about another kind of value says nothing. */
const ofText = (check: (text: string) => boolean) => (value: unknown) =>
  typeof value !== 'string' || check(value)
const ofNumber = (check: (number: number) => boolean) => (value: unknown) =>
  typeof value !== 'number' || check(value)
const ofList = (check: (list: unknown[]) => boolean) => (value: unknown) =>
  !Array.isArray(value) || check(value)

const CHECKS: Record<string, Check> = {
  type: (types: string | string[], value) => [types].flat().some((type) => isOfType(type, value)),
  enum: (choices: unknown[], value) => choices.some((choice) => isDeepStrictEqual(choice, value)),
  const: (wanted: unknown, value) => isDeepStrictEqual(wanted, value),
  minLength: (min: number, value) => ofText((text) => [...text].length >= min)(value),
  maxLength: (max: number, value) => ofText((text) => [...text].length <= max)(value),
  pattern: (pattern: string, value) => ofText((text) => new RegExp(pattern, 'u').test(text))(value),
  minimum: (min: number, value) => ofNumber((number) => number >= min)(value),
  maximum: (max: number, value) => ofNumber((number) => number <= max)(value),
  exclusiveMinimum: (min: number, value) => ofNumber((number) => number > min)(value),
  exclusiveMaximum: (max: number, value) => ofNumber((number) => number < max)(value),
  minItems: (min: number, value) => ofList((list) => list.length >= min)(value),
  maxItems: (max: number, value) => ofList((list) => list.length <= max)(value),
  required: (names: string[], value) => !isObject(value) || names.every((name) => Object.hasOwn(value, name)),
}
const ANNOTATIONS = ['description', 'title', 'examples', 'default', 'format', 'deprecated', 'readOnly']

export function createSchemaChecker(components: Components): SchemaChecker {
  function target(schema: JsonSchema): JsonSchema | null {
    if (schema.$ref === undefined) return null
    const name = String(schema.$ref).replace(REFERENCE, '')
    const found = components[name]
    if (found === undefined) throw new Error(`nothing is called ${schema.$ref}`)
    return found
  }

  /** The properties that a schema, and whatever it refers to, knows; null when it takes any. */
  function knownProperties(schema: JsonSchema): Set<string> | null {
    const parts = [schema, target(schema), ...((schema.allOf as JsonSchema[] | undefined) ?? [])]
    const known = new Set<string>()
    for (const part of parts) {
      if (part === null) continue
      if (part.additionalProperties !== undefined) return null
      const names = part === schema ? Object.keys((part.properties as object) ?? {}) : knownProperties(part)
      if (names === null) return null
      for (const name of names) known.add(name)
    }
    return known
  }

  function check(schema: JsonSchema, value: unknown, place: string): string[] {
    return Object.entries(schema).flatMap(([keyword, wanted]): string[] => {
      const simple = CHECKS[keyword]
      if (simple !== undefined) return simple(wanted as never, value) ? [] : [`${place}: ${keyword}`]
      switch (keyword) {
        case '$ref':
          return check(target(schema)!, value, place)
        case 'allOf':
          return (wanted as JsonSchema[]).flatMap((part) => check(part, value, place))
        case 'anyOf':
        case 'oneOf': {
          const fitting = (wanted as JsonSchema[]).filter((part) => check(part, value, place).length === 0)
          const isRight = keyword === 'anyOf' ? fitting.length > 0 : fitting.length === 1
          return isRight ? [] : [`${place}: ${keyword}`]
        }
        case 'items':
          if (!Array.isArray(value)) return []
          return value.flatMap((item, index) => check(wanted as JsonSchema, item, `${place}[${index}]`))
        case 'properties': {
          if (!isObject(value)) return []
          const parts = Object.entries(wanted as Components).filter(([name]) => Object.hasOwn(value, name))
          return parts.flatMap(([name, part]) => check(part, value[name], `${place}.${name}`))
        }
        case 'additionalProperties': {
          if (!isObject(value)) return []
          const known = Object.keys((schema.properties as object) ?? {})
          const others = Object.keys(value).filter((name) => !known.includes(name))
          if (wanted === false) return others.map((name) => `${place}.${name}: additionalProperties`)
          return others.flatMap((name) => check(wanted as JsonSchema, value[name], `${place}.${name}`))
        }
        case 'propertyNames':
          if (!isObject(value)) return []
          return Object.keys(value).flatMap((name) => check(wanted as JsonSchema, name, `${place}.${name}`))
        default:
          if (ANNOTATIONS.includes(keyword)) return []
          throw new Error(`${place}: what does "${keyword}" mean?`)
      }
    })
  }

  /** Fields nobody documented, all the way down. */
  function undocumented(schema: JsonSchema, value: unknown, place: string): string[] {
    const refers = target(schema)
    const choices = [schema.anyOf, schema.oneOf, schema.allOf].flat().filter((part) => part !== undefined)
    const parts = [...(choices as JsonSchema[]), ...(refers === null ? [] : [refers])]
    const deeper = parts
      .filter((part) => check(part, value, place).length === 0)
      .flatMap((part) => undocumented(part, value, place))
    if (Array.isArray(value) && schema.items !== undefined) {
      const items = schema.items as JsonSchema
      return [...deeper, ...value.flatMap((item, index) => undocumented(items, item, `${place}[${index}]`))]
    }
    if (!isObject(value) || schema.properties === undefined) return deeper
    const known = knownProperties(schema)
    const own = Object.entries(value).flatMap(([name, field]) => {
      const part = (schema.properties as Components)[name]
      if (part !== undefined) return undocumented(part, field, `${place}.${name}`)
      return known === null || known.has(name) ? [] : [`${place}.${name}: is not documented`]
    })
    return [...deeper, ...own]
  }

  return {
    problems: (schema, value) => check(schema, value, '$'),
    problemsOfAnswer: (schema, value) => [...check(schema, value, '$'), ...undocumented(schema, value, '$')],
    resolve: (schema) => ({ ...target(schema), ...schema }),
  }
}
