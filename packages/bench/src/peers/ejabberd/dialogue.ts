// One user's dialogue with ejabberd, without the socket: sign in with the token as the
// password (SASL PLAIN), bind a resource, become available, and receive the presence of contacts. XMPP has no snapshot
// with an end to it: ready is when the server answers a ping sent after the first presence, by which time
// it has asked for the states of all contacts. They may still be on their way; that is in its favour.
import { type ConnectionOptions, userName } from '../../wires/wire.ts'
import type { Dialogue, Send } from '../dialogue.ts'
import { createStanzaReader, readPresence } from './stanzas.ts'

export interface XmppDialogue extends Dialogue<string> {
  beat(): void
}

const RESOURCE = 'bench'
// The opening of the stream, and its end, which the socket reports.
const IGNORED = /^<(\?xml|\/?stream:stream)/

export function createDialogue(
  domain: string,
  token: string,
  { user, isExact, events }: ConnectionOptions,
  send: Send,
): XmppDialogue {
  const reader = createStanzaReader()
  let isSignedIn = false
  let isReady = false

  const openStream = `<?xml version='1.0'?><stream:stream to='${domain}' version='1.0' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>`

  function onFeatures(): void {
    if (!isSignedIn) {
      const proof = Buffer.from(`\0${userName(user)}\0${token}`).toString('base64')
      send(`<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>${proof}</auth>`)
      return
    }
    const bind = `<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>${RESOURCE}</resource></bind>`
    const ping = "<ping xmlns='urn:xmpp:ping'/>"
    send(
      `<iq type='set' id='bind'>${bind}</iq><presence/><iq type='get' id='ready' to='${domain}'>${ping}</iq>`,
    )
  }

  function onPresence(stanza: string): void {
    const presence = readPresence(stanza)
    if (presence === null || presence.kind === 'refused') {
      events.onError(stanza)
      return
    }
    // A user receives its own presence as well, which is no delivery.
    if (presence.user === user || presence.isSnapshot) return
    events.onFrame(stanza.length, 1)
    if (!isExact) return
    if (presence.kind === 'gone') events.onGone(presence.user)
    else if (presence.serial !== null) events.onDelivery(presence.user, presence.serial)
  }

  function onStanza(stanza: string): void {
    if (stanza.startsWith('<presence')) onPresence(stanza)
    else if (stanza.startsWith('<stream:features')) onFeatures()
    else if (stanza.startsWith('<success')) {
      isSignedIn = true
      send(openStream)
    } else if (stanza.startsWith('<iq') && stanza.includes(" type='result'")) {
      if (!stanza.includes(" id='ready'")) return
      isReady = true
      events.onReady()
    } else if (!IGNORED.test(stanza)) events.onError(stanza)
  }

  return {
    begin: () => void send(openStream),
    receive: (chunk) => reader.read(chunk, onStanza),
    change: (serial) => events.onSent(send(`<presence><status>${serial}</status></presence>`)),
    beat() {
      // Space is allowed between stanzas, not in the middle of signing in.
      if (isReady) events.onSent(send(' '))
    },
  }
}
