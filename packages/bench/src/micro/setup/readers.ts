// A program that opens WebSockets to a port of this machine and reads what comes, for measurements of a server in
// another process. `bun readers.ts <port> <sockets>`; it runs until it is stopped.
import { BenchSocket } from '../../wires/web-socket.ts'

const [port, sockets] = process.argv.slice(2).map(Number)
const address = { host: '127.0.0.1', port: port!, nextAddress: () => '127.0.0.1' }
const ignore = { onOpen() {}, onMessage() {}, onBytes() {}, onEnd: () => process.exit() }
for (let socket = 0; socket < sockets!; socket++) new BenchSocket(address, '/', ignore)
