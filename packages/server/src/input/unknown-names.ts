// Refuses names that a request has and its route does not declare: fields of a body, at any depth, and parameters
// of a URL. A misspelt name must never look as if it had worked. For HTTP only: frames may have fields of newer
// clients, which are ignored.
import type { Failure } from '@greendot/protocol'
import { z } from 'zod'
import { nearestName } from '../platform/config/nearest-name.ts'
import { said } from './schemas.ts'

/** Longer names are cut in messages and not compared with others. */
const NAME_CHARS_MAX = 64

/** The same schema, which refuses objects with other fields than it declares. */
export function knownFieldsOnly<T extends z.ZodType>(schema: T): z.ZodType<z.output<T>> {
  const check = checkOf(schema)
  if (check === null) return schema as z.ZodType<z.output<T>>
  return z
    .unknown()
    .superRefine((value, context) => {
      const problem = check(value, '')
      if (problem !== null) context.addIssue(said('bad_request', problem))
    })
    .pipe(schema) as z.ZodType<z.output<T>>
}

export function parameterFailure(sent: Iterable<string>, known: readonly string[]): Failure | null {
  for (const name of sent) {
    if (known.includes(name)) continue
    const message =
      name === 'token'
        ? 'tokens are sent in the Authorization header here, not in the URL'
        : unknownName('parameter', name, known)
    return { code: 'bad_request', message }
  }
  return null
}

/** The problem with a value, or null. */
type Check = (value: unknown, path: string) => string | null

/** Null where the schema has no objects inside. */
function checkOf(schema: unknown): Check | null {
  if (schema instanceof z.ZodObject) return objectCheck(schema)
  if (schema instanceof z.ZodArray) return arrayCheck(schema)
  if (schema instanceof z.ZodPipe) return checkOf(schema.in)
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault
  return isWrapped ? checkOf(schema.unwrap()) : null
}

function objectCheck(schema: z.ZodObject): Check {
  const names = Object.keys(schema.shape)
  const known = new Set(names)
  const inside = names.flatMap((name) => {
    const check = checkOf(schema.shape[name])
    return check === null ? [] : [{ name, check }]
  })
  return (value, path) => {
    // A value of another type is refused by the schema, in its own words.
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    const unknown = Object.keys(value).find((name) => !known.has(name))
    if (unknown !== undefined) return unknownName('field', unknown, names, path)
    for (const { name, check } of inside) {
      const problem = check((value as Record<string, unknown>)[name], `${path}${name}.`)
      if (problem !== null) return problem
    }
    return null
  }
}

function arrayCheck(schema: z.ZodArray): Check | null {
  const check = checkOf(schema.element)
  if (check === null) return null
  return (value, path) => {
    if (!Array.isArray(value)) return null
    for (const [index, item] of value.entries()) {
      const problem = check(item, `${path}${index}.`)
      if (problem !== null) return problem
    }
    return null
  }
}

function unknownName(kind: 'field' | 'parameter', name: string, known: readonly string[], path = ''): string {
  const isLong = name.length > NAME_CHARS_MAX
  const shown = `${path}${isLong ? `${name.slice(0, NAME_CHARS_MAX)}…` : name}`.toWellFormed()
  const nearest = isLong ? null : nearestName(name, known)
  const all = known.length === 0 ? `it takes no ${kind}s` : `it takes ${known.join(', ')}`
  return `this route has no ${kind} "${shown}"; ${nearest === null ? all : `did you mean ${nearest}?`}`
}
