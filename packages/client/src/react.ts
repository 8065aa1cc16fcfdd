// React hooks over a Dot. All reads go through useSyncExternalStore, so that one commit shows one state.
// Rendering opens nothing, in browsers or on servers: only an effect connects. Until then, and while
// hydrating, every user is unknown.
'use client'
import {
  createContext,
  createElement,
  type DetailedHTMLProps,
  type HTMLAttributes,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { ANY_DOT, provide } from './context/context.ts'
import { follow, personOf } from './dot/follow.ts'
import type { GreenDot as GreenDotElement, GreendotConnection } from './element.ts'
import { connect } from './index.ts'
import type { ConnectOptions, Dot, DotState, OwnPresence, Person, Settings } from './types.ts'

/** Undefined without a provider, null while it has not connected. */
const DotContext = createContext<Dot | null | undefined>(undefined)
const EMPTY: ReadonlyMap<string, Person> = new Map()
const stopNothing = (): void => {}

export type GreendotProviderProps = { children?: ReactNode } & (
  | { dot: Dot }
  | (ConnectOptions & { dot?: never })
)

/**
 * Provides a connection: the `dot` of the app, which the app closes, or its own one from the options of
 * `connect`, which lives as long as the provider.
 *
 * Functions among the options may be new in every render; a new `token` is used from the next connection on.
 * Any other change connects again. For another user, give the provider another `key`.
 */
export function GreendotProvider({ children, dot, ...options }: GreendotProviderProps): ReactElement {
  const opened = useOpenedDot(dot ? null : (options as ConnectOptions))
  const value = dot ?? opened
  // For <green-dot> elements, which cannot read the context of React.
  useEffect(() => (value ? provide(ANY_DOT, value) : undefined), [value])
  return createElement(DotContext.Provider, { value }, children)
}

interface Opened {
  key: string
  dot: Dot
  isWanted: boolean
}

function useOpenedDot(options: ConnectOptions | null): Dot | null {
  const [dot, setDot] = useState<Dot | null>(null)
  const latest = useRef(options)
  const opened = useRef<Opened | null>(null)
  // JSON.stringify drops functions, which is intended.
  const key = options && JSON.stringify({ ...options, token: null })

  useEffect(() => {
    if (options) latest.current = options
  })

  useEffect(() => {
    if (key === null) return
    if (opened.current?.key !== key)
      opened.current = { key, isWanted: true, dot: connect({ ...latest.current!, token: latestToken }) }
    const own = opened.current
    own.isWanted = true
    setDot(own.dot)
    return () => {
      own.isWanted = false
      // StrictMode runs every effect twice in one turn, which must not open two connections.
      queueMicrotask(() => {
        if (own.isWanted) return
        if (opened.current === own) opened.current = null
        own.dot.close()
      })
    }

    function latestToken(): string | Promise<string> {
      const { token } = latest.current!
      return typeof token === 'string' ? token : token()
    }
  }, [key])

  return dot
}

function useProvidedDot(hook: string): Dot | null {
  const dot = useContext(DotContext)
  if (dot === undefined)
    throw new Error(`${hook} needs a <GreendotProvider> above the component that uses it`)
  return dot
}

/** The connection. Null on a server and until the provider has connected. */
export const useDot = (): Dot | null => useProvidedDot('useDot')

/**
 * Watches a user while the component is mounted. Undefined while nothing is known. Pass null to watch nothing
 * yet.
 */
export function usePresence(userId: string | null | undefined): Person | undefined {
  const dot = useProvidedDot('usePresence')
  const subscribe = useCallback(
    (onChange: () => void) => (dot && userId ? follow(dot, userId, onChange) : stopNothing),
    [dot, userId],
  )
  const read = () => (dot && userId ? personOf(dot, userId) : undefined)
  return useSyncExternalStore(subscribe, read, () => undefined)
}

/**
 * Watches several users while the component is mounted; the map holds the known ones. It is the same object
 * until one of them changes; a new list with the same ids in any order is no change.
 */
export function usePresences(userIds: Iterable<string>): ReadonlyMap<string, Person> {
  const dot = useProvidedDot('usePresences')
  const key = JSON.stringify([...new Set(userIds)].sort())
  const view = useMemo(() => createView(dot, JSON.parse(key)), [dot, key])
  return useSyncExternalStore(view.subscribe, view.people, () => EMPTY)
}

function createView(dot: Dot | null, userIds: readonly string[]) {
  let shown = EMPTY
  return {
    subscribe: (onChange: () => void) => (dot ? follow(dot, userIds, onChange) : stopNothing),
    people(): ReadonlyMap<string, Person> {
      const people = new Map<string, Person>()
      for (const userId of userIds) {
        const person = dot && personOf(dot, userId)
        if (person) people.set(userId, person)
      }
      const isSame = people.size === shown.size && userIds.every((id) => people.get(id) === shown.get(id))
      if (!isSame) shown = people
      return shown
    },
  }
}

/**
 * Watches the user's contact list while the component is mounted, and follows its edits. Null until the
 * server has sent it. Contacts who hide or never came are on it, offline with version 0.
 */
export function useContacts(): readonly Person[] | null {
  const dot = useProvidedDot('useContacts')
  const view = useMemo(() => createContactView(dot), [dot])
  return useSyncExternalStore(view.subscribe, view.people, () => null)
}

function createContactView(dot: Dot | null) {
  let shown: readonly Person[] | null = null
  return {
    subscribe(onChange: () => void): () => void {
      if (!dot) return stopNothing
      const stopListening = dot.on('state', onChange)
      const stopWatching = dot.watchContacts((people) => {
        shown = people
        onChange()
      })
      return () => {
        stopListening()
        // As in dot/follow.ts: mounting again in the same turn sends nothing.
        queueMicrotask(stopWatching)
      }
    },
    people: () => (dot?.state === 'closed' ? null : shown),
  }
}

/** The user's own view, with availability and sessions. Null until the server has sent it. */
export function useMyPresence(): OwnPresence | null {
  const dot = useProvidedDot('useMyPresence')
  return useDotValue(dot, () => (dot && dot.state !== 'closed' ? dot.me : null), null)
}

/** The state of the connection, for example to mark what is shown as stale. */
export function useDotState(): DotState {
  const dot = useProvidedDot('useDotState')
  return useDotValue(dot, () => dot?.state ?? 'connecting', 'connecting')
}

/**
 * The privacy settings and the away time of the user, read while the component is mounted, with every new
 * connection, and after each `dot.setSettings`. Null until the server has sent them; `dot.settings()` says why
 * they cannot be read.
 */
export function useSettings(): Settings | null {
  const dot = useProvidedDot('useSettings')
  const view = useMemo(() => createSettingsView(dot), [dot])
  return useSyncExternalStore(view.subscribe, view.settings, () => null)
}

function createSettingsView(dot: Dot | null) {
  let shown: Settings | null = null
  return {
    subscribe(onChange: () => void): () => void {
      if (!dot) return stopNothing
      const read = () => void dot.settings()
      const stops = [
        dot.on('settings', (settings) => {
          // The same object means that nothing changed.
          if (JSON.stringify(settings) !== JSON.stringify(shown)) shown = settings
          onChange()
        }),
        dot.on('state', (state) => {
          if (state === 'live') read()
          onChange()
        }),
      ]
      if (dot.state === 'live') read()
      return () => {
        for (const stop of stops) stop()
      }
    },
    settings: () => (dot?.state === 'closed' ? null : shown),
  }
}

export interface GreenDotProps extends Omit<HTMLAttributes<HTMLElement>, 'children'> {
  user: string
  label?: string
  showLabel?: boolean
  /** Instead of the connection of the provider. */
  dot?: Dot | null
}

/**
 * `<green-dot>` as a component, for React 18 and later: it takes the connection of the nearest provider, and
 * loads `@greendot/client/element` by itself.
 */
export function GreenDot({ dot, showLabel, className, ...rest }: GreenDotProps): ReactElement {
  const provided = useContext(DotContext)
  const used = dot ?? provided ?? null
  const setDot = useCallback(
    (element: GreenDotElement | null) => {
      if (element) element.dot = used
    },
    [used],
  )
  useEffect(() => void import('./element.ts'), [])
  return createElement('green-dot', {
    ...rest,
    // React 18 knows no `className` of custom elements.
    class: className,
    'show-label': showLabel ? '' : undefined,
    ref: setDot,
  })
}

function useDotValue<Value>(dot: Dot | null, read: () => Value, onServer: Value): Value {
  const subscribe = useCallback(
    (onChange: () => void) => {
      if (!dot) return stopNothing
      const stops = [dot.on('state', onChange), dot.on('me', onChange)]
      return () => {
        for (const stop of stops) stop()
      }
    },
    [dot],
  )
  return useSyncExternalStore(subscribe, read, () => onServer)
}

interface Where {
  url?: string
  token?: string
  'token-url'?: string
}

type ElementProps<Element, Own> = DetailedHTMLProps<HTMLAttributes<Element>, Element> & Own

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'green-dot': ElementProps<
        GreenDotElement,
        Where & { user: string; label?: string; 'show-label'?: boolean; dot?: Dot | null }
      >
      'greendot-connection': ElementProps<GreendotConnection, Where>
    }
  }
}
