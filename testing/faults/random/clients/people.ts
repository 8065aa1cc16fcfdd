// The users of a random run: their devices, what they do, and the truth about them. Choices of one user are made one
// after the other, so it is known which is the last.
import type { Activity } from '@greendot/protocol'
import type { Servers } from '../deployment/servers.ts'
import {
  type Choice,
  createTarget,
  type Ending,
  type Field,
  type History,
  type Target,
} from '../history/history.ts'
import type { Truth } from '../history/truth.ts'
import type { Action, PlannedUser } from '../plan/plan.ts'
import { createPeer, type Peer } from './peer.ts'
import { choose } from './requests.ts'

interface Device {
  peer: Peer
  isMeant: boolean
  activity: Activity
}

export interface Person {
  readonly target: Target
  readonly devices: readonly Device[]
  act(action: Action): void
  choose(field: Field, value: string, via: 'http' | 'socket'): Promise<Choice>
  /** Resolves when no choice is under way. */
  settled(): Promise<unknown>
  truth(): Truth
}

export function createPerson(
  { id, devices: count, contacts }: PlannedUser,
  { servers, random, history }: { servers: Servers; random: () => number; history: History },
): Person {
  const target = createTarget(id, contacts)
  history.targets.set(id, target)
  const devices = Array.from({ length: count }, (_, index): Device => {
    const peer = createPeer({
      userId: id,
      device: `d${index}`,
      servers,
      random,
      onConnection: (connection) => void target.connections.push(connection),
    })
    return { peer, isMeant: false, activity: 'active' }
  })
  let lastChoice: Promise<unknown> = Promise.resolve()

  const update = () =>
    target.isPresent.set(
      devices.some(({ isMeant }) => isMeant),
      performance.now(),
    )

  function connect(device: Device): void {
    device.isMeant = true
    device.peer.open()
    update()
  }

  function end(device: Device, how: Exclude<Ending, 'lost'>): void {
    device.isMeant = false
    device.peer.end(how)
    update()
  }

  async function make(field: Field, value: string, via: 'http' | 'socket'): Promise<Choice> {
    const ready = devices.find(({ peer }) => peer.isReady())
    const server = pick(servers.running(), random)
    const choice: Choice = {
      field,
      value,
      sentAt: performance.now(),
      answeredAt: Number.POSITIVE_INFINITY,
      outcome: 'unanswered',
      via: `${via} to ${via === 'socket' ? ready?.peer.server() : server?.name}`,
    }
    target.choices.push(choice)
    if (via === 'socket' && field !== 'visibility') {
      const frame =
        field === 'text'
          ? { type: 'set_custom_status', text: value }
          : { type: 'set_availability', status: value === 'auto' ? 'online' : value }
      const answer = ready === undefined ? false : await ready.peer.ask(frame)
      choice.outcome = answer === null ? 'unanswered' : answer ? 'acknowledged' : 'refused'
    } else if (server === undefined) choice.outcome = 'refused'
    else choice.outcome = await choose(server.process.url, id, field, value)
    choice.answeredAt = performance.now()
    return choice
  }

  function chooseNext(field: Field, value: string, via: 'http' | 'socket'): Promise<Choice> {
    const made = lastChoice.then(() => make(field, value, via))
    lastChoice = made
    return made
  }

  return {
    target,
    devices,
    act(action) {
      if (action.do === 'choose') void chooseNext(action.field, action.value, action.via)
      else {
        const device = devices[action.device]!
        if (action.do === 'connect') connect(device)
        else if (action.do === 'end') end(device, action.how)
        else {
          device.activity = action.activity
          device.peer.setActivity(action.activity)
        }
      }
    },
    choose: chooseNext,
    settled: () => lastChoice,
    truth: () => ({
      target,
      isPresent: target.isPresent.current(),
      isActive: devices.some(({ isMeant, activity }) => isMeant && activity === 'active'),
    }),
  }
}

const pick = <T>(from: readonly T[], random: () => number): T | undefined =>
  from[Math.floor(random() * from.length)]
