// Opens the dashboard with a server key, which is `dev` in dev mode. A refused key is forgotten and asked for
// again.
import { h } from '../dom.ts'
import { hashOf, type Route } from '../route.ts'
import { serverKey } from '../window-storage.ts'
import { createApi } from './api.ts'
import { type Board, createBoard } from './board.ts'
import { createKeyForm } from './key-form.ts'

export interface Dashboard {
  element: HTMLElement
  /** Null while another view is shown. */
  show(route: Route | null): void
}

export function createDashboard(parts: { navigate(hash: string): void }): Dashboard {
  let route: Route | null = null
  let board: Board | null = null
  const element = h('div', { class: 'view', hidden: true })
  const form = createKeyForm((key) => {
    serverKey.set(key)
    enter()
  })

  function lock(message = ''): void {
    serverKey.forget()
    board?.stop()
    board = null
    form.refuse(message)
    element.replaceChildren(form.element)
  }

  function enter(): void {
    const key = serverKey.get()
    if (key === null) {
      lock()
      return
    }
    const ask = (user: string, viewer: string | null) =>
      parts.navigate(hashOf({ ...route!, view: 'dashboard', user, viewer }))
    board = createBoard({ api: createApi(key), ask, lock })
    element.replaceChildren(board.element)
    board.show(route)
  }

  return {
    element,
    show(next) {
      route = next
      if (board) board.show(next)
      else if (next !== null) enter()
    },
  }
}
