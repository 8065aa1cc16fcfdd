// Light or dark: the setting of the system, until the user chooses here. Charts are notified.
import { byId, s } from './dom.ts'

const KEY = 'greendot.theme'
const listeners = new Set<() => void>()
const system = matchMedia('(prefers-color-scheme: dark)')

const chosen = (): string | null => localStorage.getItem(KEY)
const isDark = (): boolean => (chosen() ?? (system.matches ? 'dark' : 'light')) === 'dark'

function apply(): void {
  const theme = chosen()
  if (theme === null) delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  byId('theme').setAttribute('aria-pressed', String(isDark()))
  for (const listener of listeners) listener()
}

export function startTheme(): void {
  const button = byId('theme')
  button.append(
    s(
      'svg',
      { viewBox: '0 0 24 24', 'aria-hidden': 'true' },
      s('circle', { cx: 12, cy: 12, r: 8.5, class: 'theme-ring' }),
      s('path', { d: 'M12 3.5a8.5 8.5 0 0 1 0 17Z', class: 'theme-half' }),
    ),
  )
  button.addEventListener('click', () => {
    localStorage.setItem(KEY, isDark() ? 'light' : 'dark')
    apply()
  })
  system.addEventListener('change', apply)
  apply()
}

/** Returns the function that removes the listener. */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
