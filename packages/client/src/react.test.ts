// The hooks on a server and without a provider, and their size. What they do in a page is in
// testing/browser/client-react.test.ts.
import { describe, expect, test } from 'bun:test'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import {
  GreenDot,
  GreendotProvider,
  type GreendotProviderProps,
  useContacts,
  useDot,
  useDotState,
  useMyPresence,
  usePresence,
  usePresences,
  useSettings,
} from './react.ts'
import type { Dot } from './types.ts'

const GZIPPED_BYTES_MAX = 1_536

function Everything() {
  const shown = {
    bob: usePresence('bob') ?? 'unknown',
    none: usePresence(null) ?? 'unknown',
    people: usePresences(['bob', 'carol']).size,
    me: useMyPresence(),
    contacts: useContacts(),
    settings: useSettings(),
    state: useDotState(),
    dot: useDot(),
  }
  return createElement('code', null, JSON.stringify(shown).replaceAll('"', ''))
}

function Using({ use }: { use: () => unknown }) {
  use()
  return null
}

describe('the hooks on a server', () => {
  test('[X3] rendering opens nothing, and every user is unknown', async () => {
    const opened: unknown[] = []
    class NoSocket {
      constructor(url: string) {
        opened.push(url)
      }
    }
    const props = {
      url: 'http://127.0.0.1:1',
      token() {
        opened.push('token')
        return 'dev:ada'
      },
      WebSocket: NoSocket as unknown as typeof WebSocket,
    }
    const html = renderToString(createElement(GreendotProvider, props, createElement(Everything)))
    expect(html).toBe(
      '<code>{bob:unknown,none:unknown,people:0,me:null,contacts:null,settings:null,state:connecting,dot:null}</code>',
    )
    // A started connection would have fetched a token by now.
    await new Promise((resolve) => setImmediate(resolve))
    expect(opened).toEqual([])
  })

  test('[X3] an existing connection is not read, so that hydration starts with the same', () => {
    const dot = {
      state: 'live',
      me: { availability: 'auto' },
      get: () => ({ status: 'online' }),
    } as unknown as Dot
    const html = renderToString(createElement(GreendotProvider, { dot }, createElement(Everything)))
    expect(html).toContain('{bob:unknown,none:unknown,people:0,me:null,contacts:null,settings:null,')
  })

  test.each([
    ['useContacts', useContacts],
    ['useDot', useDot],
    ['useDotState', useDotState],
    ['useMyPresence', useMyPresence],
    ['usePresence', () => usePresence('bob')],
    ['usePresences', () => usePresences(['bob'])],
    ['useSettings', useSettings],
  ] as const)('[X3] %s without a provider says what is missing', (name, use) => {
    expect(() => renderToString(createElement(Using, { use }))).toThrow(
      `${name} needs a <GreendotProvider> above`,
    )
  })

  test('[X3] GreenDot is an element with attributes, also without a provider', () => {
    const html = renderToString(
      createElement(GreenDot, { user: 'bob', label: 'Bob', showLabel: true, className: 'small' }),
    )
    expect(html).toBe('<green-dot user="bob" label="Bob" class="small" show-label=""></green-dot>')
  })

  test('[X3] a provider takes a connection or options, and types know that', () => {
    const takes = (_: GreendotProviderProps) => {}
    const dot = {} as Dot
    takes({ dot })
    takes({ url: 'https://presence.example.org', token: () => 'dev:ada' })
    // @ts-expect-error: a connection and options exclude each other.
    takes({ dot, url: 'https://presence.example.org', token: 'dev:ada' })
    // @ts-expect-error: the token is missing.
    takes({ url: 'https://presence.example.org' })
  })
})

test(`[X3] the hooks are under ${GZIPPED_BYTES_MAX} bytes, without React and the core`, async () => {
  const built = await Bun.build({
    entrypoints: [`${import.meta.dir}/react.ts`],
    target: 'browser',
    minify: true,
    external: ['react'],
    plugins: [
      {
        name: 'core',
        setup: ({ onResolve }) =>
          void onResolve({ filter: /^\.\/(index|element)\.ts$/ }, ({ path }) => ({ path, external: true })),
      },
    ],
  })
  const bytes = Bun.gzipSync(await built.outputs[0]!.text(), { level: 9 }).length
  console.log(`@greendot/client/react: ${bytes} bytes gzipped`)
  expect(bytes).toBeLessThan(GZIPPED_BYTES_MAX)
})
