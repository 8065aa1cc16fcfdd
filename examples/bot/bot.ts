// A bot that is online like any user, has a custom status, and knows who is online. It answers on its terminal;
// in an app the questions come from a chat.
import { createInterface } from 'node:readline'
import { connect } from '@greendot/client'

const { GREENDOT_URL = 'http://127.0.0.1:4400', GREENDOT_TOKEN = 'dev:doorman' } = process.env
const people = process.argv.length > 2 ? process.argv.slice(2) : ['alice', 'bob', 'carol', 'dave']

const dot = connect({ url: GREENDOT_URL, token: GREENDOT_TOKEN, deviceId: 'doorman-1', platform: 'bot' })
dot.on('error', ({ code, message }) => console.error(`${code}: ${message}`))

dot.watch(people, (person, before) => {
  // Without `before` this is the first snapshot, not a change.
  if (before && person.status !== before.status) console.log(`${person.user_id} is ${person.status} now`)
})

const answer = await dot.setCustomStatus({ text: 'Ask me who is here', emoji: '🤖' })
console.log(answer.ok ? 'doorman is online' : `doorman cannot say what it does: ${answer.message}`)

function whoIsHere(): string {
  const here = people
    .flatMap((id) => dot.get(id) ?? [])
    .filter(({ status }) => status !== null && status !== 'offline')
    .map(({ user_id, status, custom_status }) => {
      const details = [status, custom_status?.text, custom_status?.emoji].filter(Boolean)
      return `${user_id} (${details.join(' ')})`
    })
  return here.length === 0 ? 'Nobody is here.' : `Here: ${here.join(', ')}.`
}

createInterface({ input: process.stdin }).on('line', (line) => {
  console.log(/who is (here|online)/i.test(line) ? whoIsHere() : 'Ask me: who is here?')
})

async function stop(): Promise<void> {
  // Others see the bot offline at once, without the offline delay.
  await dot.leave()
  process.exit(0)
}
process.on('SIGINT', stop)
process.on('SIGTERM', stop)
