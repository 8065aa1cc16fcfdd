// A dot and its hub on a clock that the test moves: what an app says of activity against what a page notices.
import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { runtimeOf, scriptedDial } from '../../testing/runtime.ts'
import { createHub } from '../connection/hub.ts'
import { soloUplink } from '../connection/solo-uplink.ts'
import { createDot } from './dot.ts'

async function createScene() {
  const clock = createFakeClock(1_000_000)
  const runtime = runtimeOf(clock)
  const server = scriptedDial()
  const dot = createDot({ runtime, activeAt: clock.now() })
  dot.resume(
    soloUplink(() =>
      createHub({
        runtime,
        dialSocket: server.dial,
        dialHttp: undefined,
        pulse: clock.every,
        token: async () => 'token',
      }),
    ),
  )
  await clock.advance(0)
  server.last().isAgreeing = true
  server.last().welcome()
  const said = () =>
    server.last().sent.flatMap((frame) => (frame.type === 'heartbeat' ? [frame.activity] : []))
  return { clock, dot, said }
}

test('[D4] back to what the page notices is back at once, for somebody who was active lately', async () => {
  const { clock, dot, said } = await createScene()
  await clock.advance(10_000)
  dot.noteActivity(clock.now())
  dot.setActivity('idle')
  expect(said().at(-1)).toBe('idle')
  await clock.advance(1_000)
  dot.setActivity('auto')
  expect(said().at(-1)).toBe('active')
})

test('[D4] and for nobody else', async () => {
  const { clock, dot, said } = await createScene()
  dot.setActivity('active')
  await clock.advance(400_000)
  expect(said().at(-1)).toBe('active')
  dot.setActivity('auto')
  expect(said().at(-1)).toBe('idle')
})
