// Generates the types of the backend kit, src/server/api.ts, from the OpenAPI document of a server. An unknown
// keyword of JSON Schema is an error, so that no type is weaker than the document. With the server running
// (`npm start`):
//
//   npx bun packages/client/generate-api.ts [http://127.0.0.1:4400]
interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: string[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema
  propertyNames?: Schema
  description?: string
}

interface Content {
  content?: Record<string, { schema: Schema }>
}

interface Operation {
  summary: string
  security: Record<string, unknown>[]
  parameters?: { name: string; in: 'path' | 'query'; required: boolean; schema: Schema }[]
  requestBody?: Content
  responses: Record<string, Content>
}

export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** Optional inputs accept `undefined`; in answers optional properties are absent. */
type Direction = 'sent' | 'answered'

const SHAPING = new Set([
  '$ref',
  'type',
  'enum',
  'anyOf',
  'items',
  'properties',
  'required',
  'additionalProperties',
  'propertyNames',
])
/** Keywords without a type; some become comments. */
const PASSED_OVER = new Set([
  'description',
  'examples',
  'default',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'uniqueItems',
])

const SCALARS: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

const BASE_FIELDS_MIN = 4
const NAMED = '#/components/schemas/'

const HEADER = `// Generated from /openapi.json by generate-api.ts; do not edit. Input and answer of every operation for server
// keys, by method and path.
`

/** The text of src/server/api.ts, before the formatter. */
export function apiTypes({ paths, components }: ApiDocument): string {
  const used = new Set<string>(['Problem'])
  const nameOfShape = new Map(
    Object.entries(components.schemas)
      // A plain string type must not match a named string schema.
      .filter(([, { properties, enum: values }]) => properties !== undefined || values !== undefined)
      .map(([name, schema]) => [shapeOf(schema), name]),
  )

  /** The name of this schema, or of an equal one. */
  function typeOf(schema: Schema, direction: Direction): string {
    const name = nameOfShape.get(shapeOf(schema))
    return name === undefined ? writtenOut(schema, direction) : referredTo(NAMED + name)
  }

  function writtenOut(schema: Schema, direction: Direction): string {
    const unknown = Object.keys(schema).find((key) => !SHAPING.has(key) && !PASSED_OVER.has(key))
    if (unknown !== undefined) throw new Error(`no type is known for "${unknown}": ${JSON.stringify(schema)}`)
    if (schema.$ref !== undefined) return referredTo(schema.$ref)
    if (schema.anyOf !== undefined) return union(schema.anyOf.map((one) => typeOf(one, direction)))
    if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)))
    if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ type }, direction)))
    if (schema.type === 'array') return `(${typeOf(schema.items!, direction)})[]`
    if (schema.type === 'object') return objectOf(schema, direction)
    const scalar = SCALARS[schema.type ?? '']
    if (scalar === undefined) throw new Error(`no type is known for ${JSON.stringify(schema)}`)
    return scalar
  }

  function referredTo(reference: string): string {
    const name = reference.replace(NAMED, '')
    if (components.schemas[name] === undefined) throw new Error(`nothing is called ${reference}`)
    used.add(name)
    return name
  }

  function objectOf({ properties, required = [], ...rest }: Schema, direction: Direction): string {
    if (properties === undefined) {
      if (rest.additionalProperties === undefined) throw new Error('an object without properties')
      const names = typeOf(rest.propertyNames ?? { type: 'string' }, direction)
      return `Record<${names}, ${typeOf(rest.additionalProperties, direction)}>`
    }
    const fields = Object.entries(properties).map(([name, schema]) => {
      const type = typeOf(schema, direction)
      if (required.includes(name)) return `${comment(schema)}${name}: ${type}`
      return `${comment(schema)}${name}?: ${type}${direction === 'sent' ? ' | undefined' : ''}`
    })
    return `{ ${fields.join(';')} }`
  }

  function inputOf({ parameters = [], requestBody }: Operation): string {
    const parts = (['path', 'query'] as const).flatMap((place) => {
      const here = parameters.filter((parameter) => parameter.in === place)
      if (here.length === 0) return []
      const fields = here.map(({ name, required, schema }) =>
        required ? `${name}: ${typeOf(schema, 'sent')}` : `${name}?: ${typeOf(schema, 'sent')} | undefined`,
      )
      return [`${place}: { ${fields.join(';')} }`]
    })
    const body = requestBody?.content?.['application/json']?.schema
    if (body !== undefined) parts.push(`body: ${typeOf(body, 'sent')}`)
    // An empty object type would accept anything.
    return parts.length === 0 ? 'Record<never, never>' : `{ ${parts.join(';')} }`
  }

  function declarationOf(name: string, schema: Schema): string {
    if (!isInterface(schema)) return `type ${name} = ${writtenOut(schema, 'answered')}`
    const base = baseOf(schema, components.schemas)
    if (base === null) return `interface ${name} ${writtenOut(schema, 'answered')}`
    const own = Object.entries(schema.properties!).filter(([field]) => !(field in base.properties))
    const rest = writtenOut({ ...schema, properties: Object.fromEntries(own) }, 'answered')
    return `interface ${name} extends ${referredTo(NAMED + base.name)} ${rest}`
  }

  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const answer = answerOf(operation)
      if (!isForBackends(operation) || answer === 'text') return []
      const input = inputOf(operation)
      const answered = answer === null ? 'undefined' : typeOf(answer, 'answered')
      const name = `'${method.toUpperCase()} ${path}'`
      return [`\n/** ${operation.summary} */\n${name}: { input: ${input}; answer: ${answered} }`]
    }),
  )

  const declared: string[] = []
  // Naming a schema may name others: the set grows during the loop.
  for (const name of used) {
    const schema = components.schemas[name]!
    declared.push(`${comment(schema)}export ${declarationOf(name, schema)}`)
  }
  return [HEADER, `export interface Operations {${operations.join('')}\n}`, ...declared].join('\n\n')
}

const isForBackends = ({ security }: Operation): boolean => security.some((scheme) => 'serverKey' in scheme)

/** Null if it is empty. */
function answerOf({ responses }: Operation): Schema | 'text' | null {
  const good = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  if (good?.content === undefined) return null
  return good.content['application/json']?.schema ?? 'text'
}

/** A schema with a subset of these properties, large enough to extend. */
function baseOf(schema: Schema, all: Record<string, Schema>): { name: string; properties: object } | null {
  const fieldsOf = ({ properties = {}, required = [] }: Schema) =>
    Object.entries(properties).map(([field, type]) => `${field} ${required.includes(field)} ${shapeOf(type)}`)
  const own = fieldsOf(schema)
  for (const [name, other] of Object.entries(all)) {
    const fields = fieldsOf(other)
    if (fields.length < BASE_FIELDS_MIN || fields.length >= own.length) continue
    if (fields.every((field) => own.includes(field))) return { name, properties: other.properties! }
  }
  return null
}

const isInterface = ({ type, properties }: Schema): boolean => type === 'object' && properties !== undefined

const union = (types: string[]): string => types.join(' | ')

/** A schema without the keywords that do not affect its type. */
function shapeOf(schema: Schema): string {
  return JSON.stringify(schema, (key, value) =>
    // A property may be called "description"; the keyword is always a string.
    key === '' || !PASSED_OVER.has(key) || isField(value) ? value : undefined,
  )
}

const isField = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function comment({ description, ...schema }: Schema): string {
  // Would repeat the descriptions of ids and instants many times.
  if (description === undefined || 'pattern' in schema || description === 'Unix milliseconds') return ''
  return `\n/** ${description} */\n`
}

/** Formats like the rest of the repository. */
export async function formatted(text: string): Promise<string> {
  const root = `${import.meta.dir}/../..`
  const biome = Bun.spawn({
    cmd: [`${root}/node_modules/.bin/biome`, 'format', '--stdin-file-path=server-api.ts'],
    cwd: root,
    stdin: new TextEncoder().encode(text),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const formattedText = await new Response(biome.stdout).text()
  if ((await biome.exited) !== 0) throw new Error('the generated text is not TypeScript')
  return formattedText
}

if (import.meta.main) {
  const address = process.argv[2] ?? 'http://127.0.0.1:4400'
  const response = await fetch(`${address}/openapi.json`)
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}`)
  const text = apiTypes((await response.json()) as ApiDocument)
  await Bun.write(`${import.meta.dir}/src/server/api.ts`, await formatted(text))
}
