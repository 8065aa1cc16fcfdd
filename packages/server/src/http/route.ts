// What a route is: its callers, its input, its answers and its handler, declared once. The guard checks
// requests by this declaration and `openapi.ts` describes the route by it, so the documentation is what is
// checked. A handler runs only with parsed input.
import type { ErrorCode } from '@greendot/protocol'
import type { BunRequest } from 'bun'
import type { z } from 'zod'
import type { Caller } from './access/auth.ts'
import type { LimitedCall } from './access/throttle.ts'

/** Who may call, and what the handler knows about the caller. */
interface Callers {
  anyone: null
  user: Extract<Caller, { kind: 'user' }>
  server: Extract<Caller, { kind: 'server' }>
  /** Either of the two. */
  caller: Caller
}
export type Who = keyof Callers

/** Parameters of a path or a query by name. A query parameter that was not sent is undefined. */
export type Shape = Readonly<Record<string, z.ZodType>>
type Values<S extends Shape> = { [Name in keyof S]: z.output<S[Name]> }

/** One request with its declared, parsed input. */
export interface Call<W extends Who, Params extends Shape, Query extends Shape, Body extends z.ZodType> {
  params: Values<Params>
  query: Values<Query>
  body: z.output<Body>
  caller: Callers[W]
  request: BunRequest
}

/** The answer with one status. Tests check answers against it; the server does not. */
export interface AnswerShape {
  description: string
  /** Null for an answer without a body. */
  content: { type: string; schema: z.ZodType | null; example?: string } | null
  /** Headers that the answer may have, each with its description. */
  headers: Readonly<Record<string, string>>
}

export interface RouteSpec<W extends Who, Params extends Shape, Query extends Shape, Body extends z.ZodType> {
  for: W
  /** One line, without a full stop. */
  summary: string
  description?: string
  /** One for each `:name` of the path. */
  params?: Params
  query?: Query
  body?: Body
  /** The token may be sent as `?token=`, for clients that cannot set headers. */
  takesTokenInUrl?: true
  /** Calls by users count towards this limit, whether they succeed or not. */
  limit?: Exclude<LimitedCall, 'stream'>
  answers: Readonly<Record<number, AnswerShape>>
  /** Codes of this route and its schemas. Those of the guard are added. */
  refusals?: readonly ErrorCode[]
  // A method, not a property: parameters of methods are bivariant, so all routes fit into one table.
  run(call: Call<W, Params, Query, Body>): Response | Promise<Response>
}

export type Route = RouteSpec<Who, Shape, Shape, z.ZodType>
export type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
export type Methods = Readonly<Partial<Record<Method, Route>>>
/** By path, with parameters written `:name`. */
export type Routes = Readonly<Record<string, Methods>>

type Nothing = Record<never, never>

/** Identity; it infers the types of `run` from the declaration. */
export function route<
  W extends Who,
  Params extends Shape = Nothing,
  Query extends Shape = Nothing,
  Body extends z.ZodType = z.ZodUndefined,
>(spec: RouteSpec<W, Params, Query, Body>): Route {
  return spec
}

export function json(
  schema: z.ZodType,
  description: string,
  headers: AnswerShape['headers'] = {},
): AnswerShape {
  return { description, content: { type: 'application/json', schema }, headers }
}

export function text(type: string, description: string, example?: string): AnswerShape {
  return {
    description,
    content: { type, schema: null, ...(example === undefined ? {} : { example }) },
    headers: {},
  }
}

export function nothing(description: string): AnswerShape {
  return { description, content: null, headers: {} }
}
