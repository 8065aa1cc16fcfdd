// The demo: in dev mode anybody of the street, elsewhere whoever the token is for. There is one party at a
// time, and it goes on while another view is shown: the person is still here.
import { connect, type DotFailure, type DotState } from '@greendot/client'
import { h } from '../dom.ts'
import { hashOf, type Place } from '../route.ts'
import { isDev, type Pass, pass, windowId } from '../window-storage.ts'
import type { Laptop } from './own-connection.ts'
import { GUESTS, STREET } from './sample-users.ts'
import { createDoor } from './token-form.ts'
import { createParty, type Party } from './user-session.ts'

export interface Demo {
  element: HTMLElement
  go(place: Place): Promise<void>
}

export interface DemoParts {
  /** Goes there as if a link had been followed; or only writes it down. */
  navigate(hash: string, isQuiet?: boolean): void
  onLink(state: DotState | Laptop | 'refused'): void
}

export function createDemo({ navigate, onLink }: DemoParts): Demo {
  const element = h('div', { class: 'view' })
  let party: Party | null = null
  let shown = ''

  async function end(): Promise<void> {
    const ending = party
    party = null
    await ending?.stop()
  }

  async function be(name: string, hasNeighbours: boolean, wanted: string): Promise<void> {
    await end()
    // Somebody else may be wanted by now.
    if (wanted !== shown) return
    party = createParty({
      name,
      token: `dev:${name}`,
      deviceId: windowId(),
      watched: STREET,
      dev: {
        hasNeighbours,
        onBe: (next) => navigate(hashOf({ as: next, hasNeighbours })),
        onNeighbours: (isWanted) => navigate(hashOf({ as: name, hasNeighbours: isWanted })),
      },
      onLink,
    })
    element.replaceChildren(party.element)
  }

  function askForToken(message = ''): void {
    onLink('refused')
    const door = createDoor((given) => void enter(given, door.refuse))
    door.refuse(message)
    element.replaceChildren(door.element)
  }

  async function enter(given: Pass, refuse: (message: string) => void): Promise<void> {
    const found = await ownerOf(given.token)
    if (typeof found !== 'string') return refuse(found.message)
    pass.set(given)
    party = createParty({
      name: found,
      token: given.token,
      deviceId: windowId(),
      watched: given.watched,
      dev: null,
      onLink,
      async onRefused({ message }) {
        pass.forget()
        await end()
        askForToken(message)
      },
    })
    element.replaceChildren(party.element)
  }

  return {
    element,
    async go(place) {
      if (!isDev) {
        if (shown === 'secured') return
        shown = 'secured'
        const kept = pass.get()
        askForToken()
        if (kept) await enter(kept, askForToken)
        return
      }
      const name = place.as ?? (await firstAbsent())
      const wanted = `${name} ${place.hasNeighbours}`
      // In the address, so that a reload stays the same person.
      if (place.as === null) navigate(hashOf({ ...place, as: name }), true)
      if (wanted === shown) return
      shown = wanted
      await be(name, place.hasNeighbours, wanted)
    },
  }
}

/** A newcomer is somebody who is not here yet, so that two windows are two people. */
async function firstAbsent(): Promise<string> {
  const answer = await fetch(`/api/v1/presence?user_ids=${GUESTS.join()}`, { headers: bearer('dev') })
  if (!answer.ok) return GUESTS[0]
  const people: { user_id: string; status: string }[] = await answer.json()
  return people.find(({ status }) => status === 'offline')?.user_id ?? GUESTS[0]
}

/** Asked by connecting: only the server can say whose a token is, and whether it is good. */
function ownerOf(token: string): Promise<string | DotFailure> {
  return new Promise((resolve) => {
    const dot = connect({ url: location.origin, token, deviceId: windowId(), tabs: 'separate' })
    const end = (found: string | DotFailure) => {
      dot.close()
      resolve(found)
    }
    dot.on('me', ({ user_id }) => end(user_id))
    dot.on('error', end)
  })
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
