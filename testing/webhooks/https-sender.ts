// Sends one webhook and prints the outcome, for a process of its own: which authorities are trusted is decided when a
// process starts. Every name is this machine.
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { createSendPost } from '../../packages/server/src/webhooks/request.ts'

const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }]
const send = createSendPost({ allowsPrivate: true, clock: systemClock, resolve })
console.log(JSON.stringify(await send({ url: process.argv[2]!, headers: {}, body: '{}' })))
