// A page that is rendered on the server. It uses the kit for backends, and a component for browsers.
import { greendot } from '@greendot/client/server'
import { STATUSES } from '@greendot/protocol'
import People from './people'

const backend = greendot({ url: 'http://127.0.0.1:4400', serverKey: 'dev' })

export default function Page() {
  return (
    <main data-kit={typeof backend.contacts.replace}>
      <p>{STATUSES.join()}</p>
      <People />
    </main>
  )
}
