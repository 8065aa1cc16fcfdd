// The demo: in dev mode as any guest, otherwise as the user of a token. There is one session at a time, and it
// stays connected while the dashboard is shown.
import { connect, type DotFailure, type DotState } from '@greendot/client'
import { h } from '../dom.ts'
import { hashOf, type Route } from '../route.ts'
import { isDev, type SavedToken, savedToken, windowId } from '../window-storage.ts'
import type { Laptop } from './own/own-connection.ts'
import { createTokenForm } from './token-form.ts'
import { createUserSession, type UserSession } from './user-session.ts'
import { GUESTS, STREET } from './users/sample-users.ts'

export interface Demo {
  element: HTMLElement
  go(route: Route): Promise<void>
}

export interface DemoParts {
  /** Navigates to the hash; `isQuiet` only replaces it in the URL. */
  navigate(hash: string, isQuiet?: boolean): void
  onLink(state: DotState | Laptop | 'refused'): void
}

export function createDemo({ navigate, onLink }: DemoParts): Demo {
  const element = h('div', { class: 'view' })
  let session: UserSession | null = null
  let shown = ''

  async function end(): Promise<void> {
    const ending = session
    session = null
    await ending?.stop()
  }

  async function be(name: string, hasNeighbours: boolean, wanted: string): Promise<void> {
    await end()
    // The user may have been switched again meanwhile.
    if (wanted !== shown) return
    session = createUserSession({
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
    element.replaceChildren(session.element)
  }

  function askForToken(message = ''): void {
    onLink('refused')
    const form = createTokenForm((given) => void enter(given, form.refuse))
    form.refuse(message)
    element.replaceChildren(form.element)
  }

  async function enter(given: SavedToken, refuse: (message: string) => void): Promise<void> {
    const found = await ownerOf(given.token)
    if (typeof found !== 'string') return refuse(found.message)
    savedToken.set(given)
    session = createUserSession({
      name: found,
      token: given.token,
      deviceId: windowId(),
      watched: given.watched,
      dev: null,
      onLink,
      async onRefused({ message }) {
        savedToken.forget()
        await end()
        askForToken(message)
      },
    })
    element.replaceChildren(session.element)
  }

  return {
    element,
    async go(route) {
      if (!isDev) {
        if (shown === 'secured') return
        shown = 'secured'
        const saved = savedToken.get()
        askForToken()
        if (saved) await enter(saved, askForToken)
        return
      }
      const name = route.as ?? (await firstAbsent())
      const wanted = `${name} ${route.hasNeighbours}`
      // In the URL, so that a reload keeps the user.
      if (route.as === null) navigate(hashOf({ ...route, as: name }), true)
      if (wanted === shown) return
      shown = wanted
      await be(name, route.hasNeighbours, wanted)
    },
  }
}

/** The first guest who is offline, so that two windows are two users. */
async function firstAbsent(): Promise<string> {
  const answer = await fetch(`/api/v1/presence?user_ids=${GUESTS.join()}`, { headers: bearer('dev') })
  if (!answer.ok) return GUESTS[0]
  const people: { user_id: string; status: string }[] = await answer.json()
  return people.find(({ status }) => status === 'offline')?.user_id ?? GUESTS[0]
}

/** Connects, because only the server knows the user of a token and whether it is valid. */
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
