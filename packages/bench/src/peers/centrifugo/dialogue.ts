// One user's dialogue with Centrifugo, written from its documented protocol (JSON, version 2) and never run
// against the server: it could not be had where this was written. A user is a channel that keeps its
// latest publication; watching is subscribing to it, and the answer brings that publication.
import { type ConnectionOptions, userName } from '../../wires/wire.ts'
import type { Dialogue, Send } from '../dialogue.ts'

export const NAMESPACE = 'users'
const CONNECT_ID = 1
const PUBLISH_ID = 2
const SUBSCRIBE_ID_MIN = 3

const channelOf = (user: number) => `${NAMESPACE}:${userName(user)}`

export function createDialogue(
  token: string,
  { user, contacts, isExact, events }: ConnectionOptions,
  send: Send,
): Dialogue<Buffer> {
  let unanswered = contacts.length

  const command = (id: number, what: object) => JSON.stringify({ id, ...what })
  const publish = (serial: number) =>
    command(PUBLISH_ID, { publish: { channel: channelOf(user), data: { serial } } })

  function onReply(reply: Reply): void {
    if (reply.error !== undefined) events.onError(JSON.stringify(reply))
    else if (reply.id === CONNECT_ID) {
      const subscriptions = contacts.map((contact, index) =>
        command(SUBSCRIBE_ID_MIN + index, { subscribe: { channel: channelOf(contact), recover: true } }),
      )
      // Several commands share a frame, one on each line.
      send([publish(0), ...subscriptions].join('\n'))
    } else if (reply.id >= SUBSCRIBE_ID_MIN && --unanswered === 0) events.onReady()
  }

  function onPush(push: Push, chars: number): void {
    if (push.pub === undefined) {
      events.onError(JSON.stringify(push))
      return
    }
    events.onFrame(chars, 1)
    const target = Number(/user-(\d+)$/.exec(push.channel)?.[1])
    if (isExact && push.pub.data.serial > 0) events.onDelivery(target, push.pub.data.serial)
  }

  return {
    begin: () => void send(command(CONNECT_ID, { connect: { token } })),
    receive(message) {
      for (const line of message.toString().split('\n')) {
        if (line === '') continue
        const parsed = JSON.parse(line) as Partial<Reply> & { push?: Push }
        if (parsed.push !== undefined) onPush(parsed.push, line.length)
        else if (parsed.id !== undefined) onReply(parsed as Reply)
        // An empty object is a ping, and the answer to it is the same.
        else events.onSent(send('{}'))
      }
    },
    change: (serial) => events.onSent(send(publish(serial))),
  }
}

interface Reply {
  id: number
  error?: { code: number; message: string }
}

interface Push {
  channel: string
  pub?: { data: { serial: number } }
}
