// React hooks over a Dot. Everything that is read goes through useSyncExternalStore, so that one commit
// shows one state of the world. Rendering opens nothing, here or on a server: only an effect connects, and
// until then, and while hydrating, everybody is unknown.
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
import { follow, personOf } from './dot/follow.ts'
import type { GreenDot, GreendotConnection } from './element.ts'
import { connect } from './index.ts'
import type { ConnectOptions, Dot, DotState, OwnPresence, Person } from './types.ts'

/** Undefined without a provider, null while it has not connected. */
const DotContext = createContext<Dot | null | undefined>(undefined)
const NOBODY: ReadonlyMap<string, Person> = new Map()
const stopNothing = (): void => {}

export type GreendotProviderProps = { children?: ReactNode } & (
  | { dot: Dot }
  | (ConnectOptions & { dot?: never })
)

/**
 * Gives everything below it a connection: the `dot` of the app, which stays the app's to close, or one of
 * its own from the options of `connect`, which lives as long as the provider.
 *
 * Functions among the options may be new in every render, and a new `token` is used from the next
 * connection on. Any other change connects anew. For another user, give the provider another `key`.
 */
export function GreendotProvider({ children, dot, ...options }: GreendotProviderProps): ReactElement {
  const opened = useOpenedDot(dot ? null : (options as ConnectOptions))
  return createElement(DotContext.Provider, { value: dot ?? opened }, children)
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
  // JSON leaves functions out, and that is what is wanted here.
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
      // StrictMode undoes every effect and does it again at once: that is one connection, not two.
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

/** The connection, to do something with it. Null on a server and until the provider has connected. */
export const useDot = (): Dot | null => useProvidedDot('useDot')

/**
 * Watches somebody while the component is mounted. Undefined while nothing is known of them; whoever has
 * not decided yet whom to watch may pass null.
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
 * Watches several people while the component is mounted, and gives those of whom something is known. The
 * map is the same object until one of them changes; a new list of the same people, in whatever order, is no
 * change.
 */
export function usePresences(userIds: Iterable<string>): ReadonlyMap<string, Person> {
  const dot = useProvidedDot('usePresences')
  const key = JSON.stringify([...new Set(userIds)].sort())
  const view = useMemo(() => createView(dot, JSON.parse(key)), [dot, key])
  return useSyncExternalStore(view.subscribe, view.people, () => NOBODY)
}

function createView(dot: Dot | null, userIds: readonly string[]) {
  let shown = NOBODY
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
 * Watches the contact list of the user while the component is mounted, and follows its edits. Null until the
 * server has told it; those of whom nothing is known are left out.
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
        // As in dot/follow.ts: what is put back at once costs nothing.
        queueMicrotask(stopWatching)
      }
    },
    people: () => (dot?.state === 'closed' ? null : shown),
  }
}

/** The own view, with availability and sessions. Null until the server has told it. */
export function useMyPresence(): OwnPresence | null {
  const dot = useProvidedDot('useMyPresence')
  return useDotValue(dot, () => (dot && dot.state !== 'closed' ? dot.me : null), null)
}

/** How the connection is, for whoever wants to say that what is shown may be old. */
export function useDotState(): DotState {
  const dot = useProvidedDot('useDotState')
  return useDotValue(dot, () => dot?.state ?? 'connecting', 'connecting')
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

type ElementProps<Element, Own> = DetailedHTMLProps<HTMLAttributes<Element>, Element> & Own

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'green-dot': ElementProps<
        GreenDot,
        { user: string; label?: string; 'show-label'?: boolean; dot?: Dot | null }
      >
      'greendot-connection': ElementProps<
        GreendotConnection,
        { url?: string; token?: string; 'token-url'?: string }
      >
    }
  }
}
