// The checker itself must be able to fail: on wrong values, on undocumented fields at any depth, on
// keywords it does not know.
import { describe, expect, test } from 'bun:test'
import { createSchemaChecker, type JsonSchema } from './openapi-schemas.ts'

const name = { type: 'string', maxLength: 3 }
const Person: JsonSchema = { type: 'object', properties: { name }, required: ['name'] }
const checker = createSchemaChecker({ Person })
const person = { $ref: '#/components/schemas/Person' }

const schemas: Record<string, JsonSchema> = {
  'an object': Person,
  'a reference': person,
  'a reference with more fields': { ...person, properties: { age: { type: 'integer' } } },
  'one of several': { anyOf: [person, { type: 'null' }] },
  'all of several': { allOf: [person, { properties: { age: { type: 'integer' } } }] },
}

describe('the schema checker', () => {
  test.each(Object.entries(schemas))('[X8] %s: undocumented fields of an answer are found', (_, schema) => {
    const deeper = (value: unknown) => ({ list: [value], byKey: { a: value } })
    const outer = {
      type: 'object',
      properties: {
        list: { type: 'array', items: schema },
        byKey: { type: 'object', additionalProperties: schema },
      },
    }
    expect(checker.problemsOfAnswer(schema, { name: 'bob' })).toEqual([])
    expect(checker.problemsOfAnswer(outer, deeper({ name: 'bob' }))).toEqual([])
    expect(checker.problemsOfAnswer(schema, { name: 'bob', secret: 1 }).join()).toContain('secret')
    const problems = checker.problemsOfAnswer(outer, deeper({ name: 'bob', secret: 1 }))
    expect(problems.filter((problem) => problem.includes('secret'))).toHaveLength(2)
    expect(checker.problems(schema, { name: 'bob', secret: 1 })).toEqual([])
  })

  test.each(Object.entries(schemas))('[X8] %s: wrong values are found', (_, schema) => {
    for (const wrong of [{}, { name: 1 }, { name: 'long' }, 'bob', []]) {
      expect(checker.problems(schema, wrong)).not.toEqual([])
      expect(checker.problemsOfAnswer(schema, wrong)).not.toEqual([])
    }
  })

  test('[X8] an unknown keyword, format or reference fails instead of passing everything', () => {
    expect(() => checker.problems({ maximumLength: 3 }, 'x')).toThrow('maximumLength')
    expect(() => checker.problems({ type: 'string', format: 'phone' }, 'x')).toThrow('phone')
    expect(() => checker.problems({ $ref: '#/components/schemas/Missing' }, 'x')).toThrow('Missing')
  })
})
