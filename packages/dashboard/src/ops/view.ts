// The way into the dashboard: with a server key, which in dev mode everybody has. A key that is refused is
// forgotten, and asked for again.
import { h } from '../dom.ts'
import { hashOf, type Place } from '../route.ts'
import { serverKey } from '../window-storage.ts'
import { createApi } from './api.ts'
import { type Board, createBoard } from './board.ts'
import { createKeyDoor } from './key-form.ts'

export interface Dashboard {
  element: HTMLElement
  /** Null while another view is shown. */
  show(place: Place | null): void
}

export function createDashboard(parts: { navigate(hash: string): void }): Dashboard {
  let place: Place | null = null
  let board: Board | null = null
  const element = h('div', { class: 'view', hidden: true })
  const door = createKeyDoor((key) => {
    serverKey.set(key)
    enter()
  })

  function lock(message = ''): void {
    serverKey.forget()
    board?.stop()
    board = null
    door.refuse(message)
    element.replaceChildren(door.element)
  }

  function enter(): void {
    const key = serverKey.get()
    if (key === null) {
      lock()
      return
    }
    const ask = (user: string, viewer: string | null) =>
      parts.navigate(hashOf({ ...place!, view: 'dashboard', user, viewer }))
    board = createBoard({ api: createApi(key), ask, lock })
    element.replaceChildren(board.element)
    board.show(place)
  }

  return {
    element,
    show(next) {
      place = next
      if (board) board.show(next)
      else if (next !== null) enter()
    },
  }
}
