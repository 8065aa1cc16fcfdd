// What this window keeps until it is closed: its device id, and pasted secrets, which must not be in the URL
// and so in histories and logs.

const DEVICE = 'greendot.window'
const TOKEN = 'greendot.token'
const WATCHED = 'greendot.watched'
const KEY = 'greendot.key'

export const isDev = document.documentElement.dataset.mode === 'dev'

/** The same after a reload, so that a reload is not a departure. */
export function windowId(): string {
  const kept =
    sessionStorage.getItem(DEVICE) ?? `window-${crypto.getRandomValues(new Uint32Array(1))[0]!.toString(36)}`
  sessionStorage.setItem(DEVICE, kept)
  return kept
}

export const serverKey = {
  get: (): string | null => (isDev ? 'dev' : sessionStorage.getItem(KEY)),
  set: (key: string) => sessionStorage.setItem(KEY, key),
  forget: () => sessionStorage.removeItem(KEY),
}

export interface SavedToken {
  token: string
  watched: string[]
}

export const savedToken = {
  get(): SavedToken | null {
    const token = sessionStorage.getItem(TOKEN)
    return token === null ? null : { token, watched: JSON.parse(sessionStorage.getItem(WATCHED) ?? '[]') }
  },
  set({ token, watched }: SavedToken): void {
    sessionStorage.setItem(TOKEN, token)
    sessionStorage.setItem(WATCHED, JSON.stringify(watched))
  },
  forget(): void {
    sessionStorage.removeItem(TOKEN)
    sessionStorage.removeItem(WATCHED)
  },
}
