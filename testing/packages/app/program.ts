// A program of an app, for Node: asks as a backend, connects as alice, waits for bob, and ends by itself.
import { connect, type Person } from '@greendot/client'
import { type Backend, greendot } from '@greendot/client/server'
import { STATUSES, type Status } from '@greendot/protocol'

const url = process.env.SERVER ?? ''
const backend: Backend = greendot({ url, serverKey: 'dev' })
const all: readonly Status[] = STATUSES

async function main(): Promise<void> {
  await backend.contacts.replace('alice', ['bob'])
  const dot = connect({ url, token: 'dev:alice' })
  dot.watch('bob', (bob: Person) => {
    if (bob.stale || bob.status === null || !all.includes(bob.status)) return
    console.log(`${bob.user_id} is ${bob.status}`)
    dot.close()
  })
}

void main()
