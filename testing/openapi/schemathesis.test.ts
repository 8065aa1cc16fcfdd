// Every operation of the OpenAPI document, called by Schemathesis with requests that the document allows and
// requests that it forbids, by an identity that may call it. `npm run test:openapi` does the same with more requests,
// other seeds, and also by the identity that is refused.
import { describe, expect, test } from 'bun:test'
import { isCI } from '../services/found.ts'
import { findSchemathesis } from '../services/tools/schemathesis.ts'
import { IDENTITIES, startTestedServer } from './identities.ts'
import { runSchemathesis } from './schemathesis.ts'

const EXAMPLES = 1
const SEED = 1
const RUN_MS_MAX = 240_000

const found = await findSchemathesis()
const isSkipped = found.state === 'missing' && !isCI()
const reason = found.state === 'missing' ? ` (${found.why})` : ''

describe.skipIf(isSkipped)(`Schemathesis finds nothing wrong${reason}`, () => {
  test.each(Object.entries(IDENTITIES))(
    '[X8] with %s',
    async (_, { token, refusedGroup }) => {
      if (found.state === 'missing') throw new Error(found.why)
      const server = await startTestedServer()
      try {
        const { url } = server
        const { passed, said } = await runSchemathesis({
          program: found,
          url,
          token: token(),
          examples: EXAMPLES,
          seed: SEED,
          withoutGroup: refusedGroup,
          output: 'pipe',
        })
        if (!passed) throw new Error(said)
        expect(said).toContain('No issues found')
      } finally {
        await server.stop()
      }
    },
    RUN_MS_MAX,
  )
})
