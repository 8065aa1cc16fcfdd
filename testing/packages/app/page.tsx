// The page of an app: a dot for bob by hook, over a worker, and by element. `?as=` is the user, `?server=` the server.
import '@greendot/client/element'
import { GreendotProvider, usePresence } from '@greendot/client/react'
import { StrictMode, version } from 'react'
import { createRoot } from 'react-dom/client'

const query = new URLSearchParams(location.search)
const url = query.get('server') ?? ''
const token = `dev:${query.get('as')}`

const worker = () => new SharedWorker(new URL('@greendot/client/worker', import.meta.url), { type: 'module' })

function Bob() {
  return <p>bob is {usePresence('bob')?.status ?? 'unknown'}</p>
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <output>React {version.split('.')[0]}</output>
    <GreendotProvider url={url} token={token} worker={worker}>
      <Bob />
    </GreendotProvider>
    <greendot-connection url={url} token={token}>
      <green-dot user="bob" label="Bob" show-label />
    </greendot-connection>
  </StrictMode>,
)
