// One HTTP connection that is kept open and written to at once, so that of two requests on two such
// lines in one turn the server hears the first one first. What `fetch` sends when is its own business.
import { connect } from 'node:net'

export interface Line {
  /** Written before this returns; resolves with the status of the answer. One at a time. */
  put(path: string, body: object): Promise<number>
  close(): void
}

export async function openLine(url: string, token: string): Promise<Line> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  const opened = Promise.withResolvers<void>()
  socket.once('connect', opened.resolve)
  socket.once('error', opened.reject)
  await opened.promise
  socket.setNoDelay(true)

  let answered = Promise.withResolvers<number>()
  let heard = ''
  socket.on('error', (error) => answered.reject(error))
  socket.on('close', () => answered.reject(new Error('the server hung up')))
  socket.on('data', (data) => {
    heard += data.toString('latin1')
    const status = statusOfWhole(heard)
    if (status === null) return
    heard = ''
    answered.resolve(status)
  })

  return {
    put(path, body) {
      answered = Promise.withResolvers<number>()
      // A line that is closed in between has no answer to wait for.
      answered.promise.catch(() => {})
      const json = JSON.stringify(body)
      const head = [
        `PUT ${path} HTTP/1.1`,
        `Host: ${host}`,
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(json)}`,
      ]
      socket.write(`${head.join('\r\n')}\r\n\r\n${json}`)
      return answered.promise
    },
    close: () => void socket.destroy(),
  }
}

/** The status, once head and body are here as long as the head says. */
function statusOfWhole(text: string): number | null {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, headEnd))?.[1] ?? 0)
  if (text.length < headEnd + 4 + length) return null
  return Number(text.split(' ', 2)[1])
}
