import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createStanzaReader, readPresence } from './stanzas.ts'

const STANZAS = [
  "<?xml version='1.0'?>",
  "<stream:stream id='1' version='1.0' xml:lang='en' xmlns:stream='http://etherx.jabber.org/streams' from='localhost' xmlns='jabber:client'>",
  "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism></mechanisms></stream:features>",
  "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>",
  "<iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><jid>user-2@localhost/b</jid></bind></iq>",
  "<presence xml:lang='en' to='user-2@localhost/b' from='user-1@localhost/b'/>",
  "<presence xml:lang='en' to='user-2@localhost/b' from='user-1@localhost/b'><status>7</status></presence>",
  "<presence to='user-2@localhost/b' from='user-1@localhost/b' type='unavailable'/>",
  '</stream:stream>',
]

function cut(chunks: readonly string[]): string[] {
  const reader = createStanzaReader()
  const found: string[] = []
  for (const chunk of chunks) reader.read(chunk, (stanza) => found.push(stanza))
  return found
}

describe('[X7] what ejabberd sends', () => {
  test('[X7] is cut into the same stanzas however it is split into chunks', () => {
    const text = STANZAS.join('')
    const places = fc.array(fc.nat({ max: text.length }), { maxLength: 12 })
    fc.assert(
      fc.property(places, (cuts) => {
        const ends = [...new Set([0, ...cuts, text.length])].sort((a, b) => a - b)
        const chunks = ends.slice(1).map((end, index) => text.slice(ends[index], end))
        expect(cut(chunks)).toEqual(STANZAS)
      }),
    )
    expect(cut(text.split(''))).toEqual(STANZAS)
  })

  test('[X7] may hold space between stanzas, which keeps connections alive', () => {
    expect(cut([` ${STANZAS[5]}  `, `\n${STANZAS[6]}`])).toEqual([STANZAS[5]!, STANZAS[6]!])
  })

  test('[X7] is not kept without an end', () => {
    expect(() => cut(['<presence>', 'x'.repeat(2 ** 20)])).toThrow('an element without an end: <presence>')
  })
})

describe('[X7] a presence of ejabberd', () => {
  const read = (rest: string) => readPresence(`<presence to='user-2@localhost/b'${rest}`)
  const here = { user: 41, kind: 'here', serial: null, isSnapshot: false } as const

  test('[X7] names the user that connected', () => {
    expect(read(" from='user-41@localhost/b'/>")).toEqual(here)
  })

  test('[X7] names the change', () => {
    const stanza = " from='user-41@localhost/b'><status>1207</status></presence>"
    expect(read(stanza)).toEqual({ ...here, serial: 1207 })
  })

  test('[X7] is a snapshot when it carries a delay', () => {
    const delay = "<delay from='user-41@localhost/b' stamp='2026-11-15T15:04:40Z' xmlns='urn:xmpp:delay'/>"
    const stanza = ` from='user-41@localhost/b'><status>3</status>${delay}</presence>`
    expect(read(stanza)).toEqual({ ...here, serial: 3, isSnapshot: true })
  })

  test('[X7] names the user that disconnected, and what was refused', () => {
    expect(read(" from='user-41@localhost/b' type='unavailable'/>")).toEqual({ ...here, kind: 'gone' })
    expect(read(" from='user-41@localhost' type='error'><error/></presence>")?.kind).toBe('refused')
  })

  test('[X7] of another sender is not read', () => {
    expect(read(" from='localhost'/>")).toBeNull()
    expect(read(" from='user-@localhost'/>")).toBeNull()
  })
})
