// The generator on small documents. Whether its output for the real one is up to date is tested in
// src/server/api.test.ts.
import { describe, expect, test } from 'bun:test'
import { type ApiDocument, apiTypes, formatted } from './generate-api.ts'

type Schemas = ApiDocument['components']['schemas']
type Schema = Schemas[string]

const Problem = { type: 'string' }
const forBackends = [{ serverKey: [] }]
const answering = (schema: Schema) => ({ 200: { content: { 'application/json': { schema } } } })

async function generated(answer: Schema, named: Schemas = {}, more: object = {}): Promise<string> {
  const operation = { summary: 'Ask', security: forBackends, responses: answering(answer), ...more }
  const document = {
    paths: { '/a/{id}': { get: operation } },
    components: { schemas: { Problem, ...named } },
  }
  return formatted(apiTypes(document))
}

const object = (properties: Record<string, Schema>, required = Object.keys(properties)): Schema => ({
  type: 'object',
  properties,
  required,
})
const text: Schema = { type: 'string' }
const number: Schema = { type: 'integer' }

describe('generate-api', () => {
  const answers: [string, Schema, string][] = [
    ['a number', number, 'answer: number'],
    ['a text or null', { type: ['string', 'null'] }, 'answer: string | null'],
    ['one of some texts', { enum: ['a', 'b'], type: 'string' }, "answer: 'a' | 'b'"],
    ['a list of either', { type: 'array', items: { anyOf: [text, number] } }, 'answer: (string | number)[]'],
    ['an object', object({ a: text, b: number }, ['a']), 'answer: { a: string; b?: number }'],
    ['numbers by name', { type: 'object', additionalProperties: number }, 'answer: Record<string, number>'],
  ]
  test.each(answers)('[X8] %s', async (_, schema, type) => expect(await generated(schema)).toContain(type))

  test('[X8] optional inputs accept undefined', async () => {
    const body = { content: { 'application/json': { schema: object({ text }, []) } } }
    const parameters = [
      { name: 'id', in: 'path', required: true, schema: text },
      { name: 'viewer', in: 'query', required: false, schema: text },
    ]
    const made = await generated(number, {}, { parameters, requestBody: body })
    expect(made).toContain('path: { id: string }')
    expect(made).toContain('query: { viewer?: string | undefined }')
    expect(made).toContain('body: { text?: string | undefined }')
  })

  test('[X8] a named schema is written once, also if it is repeated inline', async () => {
    const Colour: Schema = { type: 'string', enum: ['red', 'green'], description: 'Of a dot' }
    const answer = object({
      one: { $ref: '#/components/schemas/Colour' },
      other: { ...Colour, description: 'Another' },
    })
    const made = await generated(answer, { Colour })
    expect(made).toContain('/** Of a dot */\nexport type Colour =')
    expect(made.match(/'red'/g)).toHaveLength(1)
    expect(made).toContain('other: Colour')
  })

  test('[X8] an interface with all properties of another one extends it', async () => {
    const base = { a: text, b: text, c: text, d: text }
    const named = { Base: object(base), More: object({ ...base, e: number }) }
    const made = await generated({ $ref: '#/components/schemas/More' }, named)
    expect(made).toContain('export interface More extends Base {\n  e: number\n}')
  })

  test('[X8] routes without server keys and answers other than JSON are left out', async () => {
    expect(await generated(number, {}, { security: [{ userToken: [] }] })).not.toContain('/a/{id}')
    const plain = { 200: { content: { 'text/plain': { schema: text } } } }
    expect(await generated(number, {}, { responses: plain })).not.toContain('/a/{id}')
    expect(await generated(number, {}, { responses: { 204: {} } })).toContain('answer: undefined')
  })

  const wrongs: [string, Schema, string][] = [
    ['an unknown keyword', { ...text, format: 'date' } as Schema, 'no type is known for "format"'],
    ['an unknown type', { type: 'tuple' }, 'no type is known for {"type":"tuple"}'],
    ['an unknown name', { $ref: '#/components/schemas/Lost' }, 'nothing is called'],
  ]
  test.each(wrongs)('[X8] %s is an error', (_, schema, problem) =>
    expect(generated(schema)).rejects.toThrow(problem),
  )
})
