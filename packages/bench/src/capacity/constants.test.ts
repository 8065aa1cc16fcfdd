import { describe, expect, test } from 'bun:test'
import { CONSTANT_NAMES } from './constant-names.ts'
import { isAssumption, shippedConstants } from './constants.ts'

const constants = shippedConstants()

describe('[C9] constants', () => {
  test('each says where it comes from', () => {
    expect([...constants.keys()].toSorted()).toEqual(CONSTANT_NAMES.toSorted())
    for (const constant of constants.values()) {
      const { name, from, machine, measuredAt } = constant
      if (isAssumption(constant)) expect([name, machine, measuredAt]).toEqual([name, null, null])
      else {
        expect([name, from]).toEqual([name, expect.stringMatching(/^(npm run|bun|greendot|\/proc\/\w+) /)])
        expect([name, machine]).toEqual([name, expect.stringContaining('core')])
        expect([name, measuredAt]).toEqual([name, expect.stringMatching(/^\d{4}-\d\d-\d\d$/)])
      }
    }
  })
})
