// Which encoding a client gets for the subprotocols that it offers.
import { expect, test } from 'bun:test'
import { SUBPROTOCOL_COMPACT, SUBPROTOCOL_JSON } from '@greendot/protocol'
import { negotiate } from './subprotocol.ts'

const cases: [offered: string | null, encoding: string, answer: string | undefined][] = [
  [null, 'json', undefined],
  [SUBPROTOCOL_JSON, 'json', SUBPROTOCOL_JSON],
  [SUBPROTOCOL_COMPACT, 'compact', SUBPROTOCOL_COMPACT],
  [`${SUBPROTOCOL_JSON}, ${SUBPROTOCOL_COMPACT}`, 'compact', SUBPROTOCOL_COMPACT],
  [`${SUBPROTOCOL_COMPACT},${SUBPROTOCOL_JSON}`, 'compact', SUBPROTOCOL_COMPACT],
  [`mqtt ,\t${SUBPROTOCOL_JSON}`, 'json', SUBPROTOCOL_JSON],
  ['mqtt', 'json', ''],
  ['greendot.v2, greendot.v1+compacter', 'json', ''],
  ['GREENDOT.V1+COMPACT', 'json', ''],
  ['', 'json', ''],
  [', ,', 'json', ''],
]
for (const [offered, encoding, answer] of cases) {
  test(`[C10] who offers ${JSON.stringify(offered)} gets ${encoding}`, () => {
    const { headers, ...chosen } = negotiate(offered)
    expect(chosen).toEqual({ encoding: encoding as typeof chosen.encoding })
    expect(headers['sec-websocket-protocol']).toBe(answer)
  })
}
