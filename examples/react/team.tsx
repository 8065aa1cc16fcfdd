// A team with dots. The provider holds the connection; every hook below it watches while it is mounted. A user
// that is shown several times is watched once.
import '@greendot/client/element'
import { GreendotProvider, useDot, useDotState, useMyPresence, usePresence } from '@greendot/client/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

const TEAM = ['alice', 'bob', 'carol', 'dave']
const me = new URLSearchParams(location.search).get('as') ?? 'alice'

function Member({ id }: { id: string }) {
  const dot = useDot()
  const status = usePresence(id)?.custom_status
  return (
    <li data-member={id}>
      <green-dot user={id} dot={dot} show-label />
      {status && (
        <small>
          {status.emoji} {status.text}
        </small>
      )}
    </li>
  )
}

function Me() {
  const dot = useDot()
  const mine = useMyPresence()
  const isBusy = mine?.availability === 'busy'
  const meet = async () => {
    await dot?.setAvailability(isBusy ? 'auto' : 'busy')
    await dot?.setCustomStatus(isBusy ? null : { text: 'In a meeting', emoji: '📅' })
  }
  return (
    <p>
      You are <strong>{me}</strong>.{' '}
      <button type="button" onClick={meet} disabled={mine === null}>
        {isBusy ? 'The meeting is over' : 'Go to a meeting'}
      </button>
    </p>
  )
}

function Team() {
  const state = useDotState()
  return (
    <main data-state={state}>
      <h1>Team</h1>
      <Me />
      <ul>
        {TEAM.map((id) => (
          <Member key={id} id={id} />
        ))}
      </ul>
      {state === 'stale' && <p role="status">No connection. This is the last known state.</p>}
    </main>
  )
}

// In an app, `token` is a function that asks your backend: see ../node-backend.
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <GreendotProvider url="http://127.0.0.1:4400" token={`dev:${me}`}>
      <Team />
    </GreendotProvider>
  </StrictMode>,
)
