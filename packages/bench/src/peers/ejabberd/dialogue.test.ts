import { describe, expect, test } from 'bun:test'
import { recordedLine } from '../recorded-connection.ts'
import { createTalk } from './dialogue.ts'

const FEATURES = '<stream:features><mechanisms/></stream:features>'
const PUSH = "<presence to='user-2@localhost/b' from='user-1@localhost/b'><status>4</status></presence>"
const OWN = PUSH.replace('user-1', 'user-2')
const GONE = "<presence to='user-2@localhost/b' from='user-1@localhost/b' type='unavailable'/>"

function begun(isExact = true) {
  const line = recordedLine(2, [1, 3], isExact)
  const said: string[] = []
  const talk = createTalk('localhost', 'a.b.c', line, (text) => said.push(text))
  return { talk, said, happened: line.happened }
}

describe('[X7] a talk with ejabberd', () => {
  test('[X7] signs in with the token, comes, and is ready when the ping after it is answered', () => {
    const { talk, said, happened } = begun()
    talk.begin()
    talk.hear(`<?xml version='1.0'?><stream:stream id='1'>${FEATURES}`)
    expect(said[1]).toContain(`mechanism='PLAIN'>${Buffer.from('\0user-2\0a.b.c').toString('base64')}</auth>`)
    talk.hear('<success/>')
    expect(said[2]).toStartWith("<?xml version='1.0'?><stream:stream to='localhost'")
    talk.hear(`<stream:stream id='2'>${FEATURES}`)
    expect(said[3]).toContain('</iq><presence/><iq')
    talk.hear("<iq type='result' id='bind'><bind/></iq>")
    expect(happened).toEqual([])
    talk.hear("<iq to='user-2@localhost/b' type='result' id='ready'/>")
    expect(happened).toEqual(['ready'])
  })

  test('[X7] reports changes of contacts, and neither its own nor snapshots', () => {
    const { talk, happened } = begun()
    talk.hear(PUSH + OWN + PUSH.replace('</presence>', "<delay stamp='x'/></presence>"))
    talk.hear(GONE)
    expect(happened).toEqual(['frame 1', 'delivery 1 4', 'frame 1', 'gone 1'])
  })

  test('[X7] only counts on lines that are not exact', () => {
    const { talk, happened } = begun(false)
    talk.hear(PUSH + OWN + PUSH)
    expect(happened).toEqual(['frame 1', 'frame 1'])
  })

  test('[X7] tells of refusals', () => {
    const { talk, happened } = begun()
    talk.hear('<failure><not-authorized/></failure></stream:stream>')
    expect(happened).toEqual(['error <failure><not-authorized/></failure>'])
  })

  test('[X7] says changes and, once it is ready, signs of life', () => {
    const { talk, said } = begun()
    talk.beat()
    talk.hear("<iq type='result' id='ready'/>")
    talk.change(12)
    talk.beat()
    expect(said).toEqual(['<presence><status>12</status></presence>', ' '])
  })
})
