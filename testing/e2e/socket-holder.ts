// A program of its own that holds one heartbeating WebSocket until it is killed, for tests of what
// the server makes of a client that dies or hangs. Says `open` on stdout once it was welcomed.
const [url, beatEveryMs] = process.argv.slice(2)
if (url === undefined || beatEveryMs === undefined) throw new Error('usage: socket-holder.ts <url> <beat ms>')

const socket = new WebSocket(url)
socket.onmessage = () => {
  socket.onmessage = null
  console.log('open')
  setInterval(() => socket.send('{"type":"heartbeat","activity":"active"}'), Number(beatEveryMs))
}
socket.onclose = () => process.exit(1)
