// The connection of this window, shown as a laptop. Closing the lid closes the connection without `leave`, so
// others see offline after the delay; "Say goodbye" leaves, and others see it at once.
import {
  type Answer,
  type AvailabilityChoice,
  type CustomStatusInput,
  connect,
  type Dot,
  type DotFailure,
  type DotState,
  type OwnPresence,
  type Person,
} from '@greendot/client'

export type Laptop = 'in_use' | 'idle' | 'closed' | 'left'

export interface OwnConnectionEvents {
  me(me: OwnPresence): void
  person(person: Person): void
  link(state: DotState): void
  laptop(laptop: Laptop): void
  error(failure: DotFailure): void
}

export interface OwnConnection {
  laptop(): Laptop
  me(): OwnPresence | null
  watch(userIds: readonly string[]): void
  /** Opens the lid, joins again or becomes active. */
  use(): void
  rest(): void
  closeLid(): void
  leave(): Promise<void>
  /** Leaves and closes. */
  end(): Promise<void>
  setAvailability(status: AvailabilityChoice): Promise<Answer>
  setCustomStatus(status: CustomStatusInput | null): Promise<Answer>
}

export function createOwnConnection(parts: {
  token: string
  deviceId: string
  on: OwnConnectionEvents
}): OwnConnection {
  const { token, deviceId, on } = parts
  const watched = new Set<string>()
  let laptop: Laptop = 'in_use'
  let dot: Dot = open()

  function open(): Dot {
    // Each window is a device, so that two windows of one user show what two devices do.
    const opened = connect({ url: location.origin, token, deviceId, tabs: 'separate' })
    opened.on('me', (me) => on.me(me))
    opened.on('error', (failure) => on.error(failure))
    opened.on('state', (state) => on.link(state))
    opened.watch(watched, on.person)
    return opened
  }

  function set(next: Laptop): void {
    laptop = next
    on.laptop(laptop)
  }

  function wake(): void {
    if (laptop === 'closed') dot = open()
    if (laptop === 'left') dot.join()
  }

  return {
    laptop: () => laptop,
    me: () => dot.me,
    watch(userIds) {
      const added = userIds.filter((id) => !watched.has(id))
      for (const id of added) watched.add(id)
      dot.watch(added, on.person)
    },
    use() {
      wake()
      dot.setActivity('auto')
      set('in_use')
    },
    rest() {
      wake()
      dot.setActivity('idle')
      set('idle')
    },
    closeLid() {
      dot.close()
      set('closed')
    },
    async leave() {
      await dot.leave()
      set('left')
    },
    async end() {
      if (laptop !== 'closed') await dot.leave()
      dot.close()
    },
    setAvailability: (status) => dot.setAvailability(status),
    setCustomStatus: (status) => dot.setCustomStatus(status),
  }
}
