// The bare runtime, as a program: a WebSocket handler that only counts and an HTTP answer that is ready.
// What Greendot does beyond this is what the ratios show.

const answer = process.env.BARE_ANSWER ?? ''
const headers = { 'content-type': 'application/json' }
let messages = 0

const server = Bun.serve<undefined>({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request, server) {
    if (server.upgrade(request, { data: undefined })) return undefined
    if (request.url.endsWith('/messages')) return new Response(`${messages}`)
    // Any server that is asked for something reads what it is asked for.
    if (request.method === 'POST') await request.text()
    return new Response(answer, { headers })
  },
  websocket: {
    perMessageDeflate: false,
    idleTimeout: 0,
    sendPings: false,
    message() {
      messages++
    },
  },
})
console.log(`bare ready http://127.0.0.1:${server.port}`)
