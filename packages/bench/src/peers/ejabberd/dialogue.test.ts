import { describe, expect, test } from 'bun:test'
import { recordedConnection } from '../../../testing/recorded-connection.ts'
import { createDialogue } from './dialogue.ts'

const FEATURES = '<stream:features><mechanisms/></stream:features>'
const PUSH = "<presence to='user-2@localhost/b' from='user-1@localhost/b'><status>4</status></presence>"
const OWN = PUSH.replace('user-1', 'user-2')
const GONE = "<presence to='user-2@localhost/b' from='user-1@localhost/b' type='unavailable'/>"

function begin(isExact = true) {
  const connection = recordedConnection(2, [1, 3], isExact)
  const sent: string[] = []
  const dialogue = createDialogue('localhost', 'a.b.c', connection, (text) => sent.push(text))
  return { dialogue, sent, happened: connection.happened }
}

describe('[X7] a dialogue with ejabberd', () => {
  test('[X7] signs in with the token, comes, and is ready when the ping after it is answered', () => {
    const { dialogue, sent, happened } = begin()
    dialogue.begin()
    dialogue.receive(`<?xml version='1.0'?><stream:stream id='1'>${FEATURES}`)
    expect(sent[1]).toContain(`mechanism='PLAIN'>${Buffer.from('\0user-2\0a.b.c').toString('base64')}</auth>`)
    dialogue.receive('<success/>')
    expect(sent[2]).toStartWith("<?xml version='1.0'?><stream:stream to='localhost'")
    dialogue.receive(`<stream:stream id='2'>${FEATURES}`)
    expect(sent[3]).toContain('</iq><presence/><iq')
    dialogue.receive("<iq type='result' id='bind'><bind/></iq>")
    expect(happened).toEqual([])
    dialogue.receive("<iq to='user-2@localhost/b' type='result' id='ready'/>")
    expect(happened).toEqual(['ready'])
  })

  test('[X7] reports changes of contacts, and neither its own nor snapshots', () => {
    const { dialogue, happened } = begin()
    dialogue.receive(PUSH + OWN + PUSH.replace('</presence>', "<delay stamp='x'/></presence>"))
    dialogue.receive(GONE)
    expect(happened).toEqual(['frame 1', 'delivery 1 4', 'frame 1', 'gone 1'])
  })

  test('[X7] only counts on connections that are not exact', () => {
    const { dialogue, happened } = begin(false)
    dialogue.receive(PUSH + OWN + PUSH)
    expect(happened).toEqual(['frame 1', 'frame 1'])
  })

  test('[X7] reports refusals', () => {
    const { dialogue, happened } = begin()
    dialogue.receive('<failure><not-authorized/></failure></stream:stream>')
    expect(happened).toEqual(['error <failure><not-authorized/></failure>'])
  })

  test('[X7] sends changes and, once it is ready, signs of life', () => {
    const { dialogue, sent } = begin()
    dialogue.beat()
    dialogue.receive("<iq type='result' id='ready'/>")
    dialogue.change(12)
    dialogue.beat()
    expect(sent).toEqual(['<presence><status>12</status></presence>', ' '])
  })
})
