// The backend of an app: it logs users in, mints tokens for their clients, and sends their contacts to Greendot.
// The presence of friends is read with the user as the viewer, so that friends who hide from this user are
// hidden here too.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { GreendotError, greendot } from '@greendot/client/server'
import { befriend, friendsOf, isUser, users } from './database.ts'

const { GREENDOT_URL = 'http://127.0.0.1:4400', GREENDOT_SERVER_KEY = 'dev', PORT = '4402' } = process.env
const backend = greendot({
  url: GREENDOT_URL,
  serverKey: GREENDOT_SERVER_KEY,
  // Not needed in dev mode, where `dev:alice` is a token.
  jwtSecret: process.env.GREENDOT_JWT_SECRET,
})

// Greendot keeps a copy of the contacts to decide which viewers may see a user. Replacing an unchanged list has
// no effect, so an app can do this at every start, or every night.
for (const name of users()) await backend.contacts.replace(name, friendsOf(name))

const sessions = new Map<string, string>()

interface Answer {
  status?: number
  body?: unknown
  cookie?: string
}

async function answer(request: IncomingMessage): Promise<Answer> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const name = searchParams.get('name') ?? ''

  if (request.method === 'POST' && pathname === '/login') {
    // An app checks a password here.
    if (!isUser(name)) return { status: 403, body: { error: 'no such user' } }
    const session = randomUUID()
    sessions.set(session, name)
    return { body: { name }, cookie: `session=${session}; HttpOnly; SameSite=Lax; Path=/` }
  }

  const me = sessions.get(/\bsession=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '')
  if (me === undefined) return { status: 401, body: { error: 'log in first' } }

  // What the client calls: connect({ url, token: async () => (await (await fetch('/token')).json()).token })
  if (pathname === '/token') return { body: { token: await backend.token(me, { ttlMs: 15 * 60_000 }) } }

  if (request.method === 'POST' && pathname === '/friends') {
    if (!isUser(name)) return { status: 404, body: { error: 'no such user' } }
    befriend(me, name)
    await Promise.all([backend.contacts.add(me, [name]), backend.contacts.add(name, [me])])
    return { status: 201, body: { name } }
  }
  if (pathname === '/friends') {
    const { people } = await backend.query(friendsOf(me), { viewerId: me })
    return { body: people.map(({ user_id, status, last_seen }) => ({ name: user_id, status, last_seen })) }
  }
  return { status: 404, body: { error: 'not here' } }
}

const server = createServer(async (request, response) => {
  const {
    status = 200,
    body,
    cookie,
  } = await answer(request).catch((error: unknown): Answer => {
    console.error(error)
    const isTemporary = error instanceof GreendotError && error.code === 'unavailable'
    return { status: isTemporary ? 503 : 500, body: { error: 'try again later' } }
  })
  if (cookie !== undefined) response.setHeader('set-cookie', cookie)
  // Tokens and presence are private, and soon out of date.
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(`${JSON.stringify(body)}\n`)
})

server.listen(Number(PORT), '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  console.log(`app ready http://127.0.0.1:${port}`)
})
