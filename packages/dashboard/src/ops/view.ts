// Opens the dashboard with a server key, which is `dev` in dev mode. A refused key is forgotten and asked for
// again.
import { h } from '../dom.ts'
import { hashOf, type Route } from '../route.ts'
import { serverKey } from '../window-storage.ts'
import { createApi } from './api.ts'
import { createKeyForm } from './key-form.ts'
import { createPanels, type Panels } from './panels.ts'

export interface Dashboard {
  element: HTMLElement
  /** Null while another view is shown. */
  show(route: Route | null): void
}

export function createDashboard(parts: { navigate(hash: string): void }): Dashboard {
  let route: Route | null = null
  let panels: Panels | null = null
  const element = h('div', { class: 'view', hidden: true })
  const form = createKeyForm((key) => {
    serverKey.set(key)
    enter()
  })

  function lock(message = ''): void {
    serverKey.forget()
    panels?.stop()
    panels = null
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
    panels = createPanels({ api: createApi(key), ask, lock })
    element.replaceChildren(panels.element)
    panels.show(route)
  }

  return {
    element,
    show(next) {
      route = next
      if (panels) panels.show(next)
      else if (next !== null) enter()
    },
  }
}
