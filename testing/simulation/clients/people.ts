// The users of a run: their devices, what they do, and the truth about them. Choices of one user are made one after the
// other, so it is known which is the last.
import type { Activity } from '@greendot/protocol'
import {
  type Choice,
  createTarget,
  type Ending,
  type Field,
  type History,
  type Target,
} from '../../faults/random/history/history.ts'
import type { Truth } from '../../faults/random/history/truth.ts'
import type { Action, PlannedUser } from '../../faults/random/plan/plan.ts'
import { createTimeline, type Timeline } from '../../faults/timeline.ts'
import type { Random } from '../time/random.ts'
import type { Deployment } from '../world/deployment.ts'
import type { Ground } from '../world/ground.ts'
import { type Attempt, createPeer, type Peer } from './peer.ts'
import { choose } from './requests.ts'

interface Device {
  peer: Peer
  isMeant: boolean
  activities: Timeline<Activity>
}

export interface Person {
  readonly target: Target
  /** Every connection that was tried, welcomed or not. */
  readonly attempts: readonly Attempt[]
  readonly devices: readonly Device[]
  act(action: Action): void
  choose(field: Field, value: string, via: 'http' | 'socket'): Promise<unknown>
  /** No choice is under way. */
  isSettled(): boolean
  truth(): Truth
}

export interface PeopleParts {
  ground: Ground
  deployment: Deployment
  random: Random
  history: History
}

export function createPerson({ id, devices: count, contacts }: PlannedUser, parts: PeopleParts): Person {
  const { ground, deployment, random, history } = parts
  const { timeline, settings } = ground
  const target = createTarget(id, contacts)
  const attempts: Attempt[] = []
  history.targets.set(id, target)
  target.choices.push({
    field: 'visibility',
    value: settings.defaultVisibility,
    sentAt: 0,
    answeredAt: 1,
    outcome: 'acknowledged',
    via: 'default',
  })
  const devices = Array.from({ length: count }, (_, index): Device => {
    const onAttempt = (attempt: Attempt) => {
      attempts.push(attempt)
      target.connections.push(attempt)
    }
    const peer = createPeer({ userId: id, device: `d${index}`, ground, deployment, random, onAttempt })
    return { peer, isMeant: false, activities: createTimeline<Activity>('active') }
  })
  let lastChoice: Promise<unknown> = Promise.resolve()
  let choosing = 0

  const update = () =>
    target.isPresent.set(
      devices.some(({ isMeant }) => isMeant),
      timeline.now(),
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

  async function make(field: Field, value: string, via: 'http' | 'socket'): Promise<void> {
    const ready = devices.find(({ peer }) => peer.isReady())
    const serving = deployment.serving()
    const server = serving.length === 0 ? null : random.pick(serving)
    const choice: Choice = {
      field,
      value,
      sentAt: timeline.now(),
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
    } else if (server === null) choice.outcome = 'refused'
    else choice.outcome = await choose(ground, server, id, field, value)
    choice.answeredAt = timeline.now()
    timeline.note(`${id} ${field} ${value} ${choice.outcome}`)
  }

  function chooseNext(field: Field, value: string, via: 'http' | 'socket'): Promise<unknown> {
    choosing++
    lastChoice = lastChoice
      .then(() => make(field, value, via))
      .finally(() => {
        choosing--
      })
    return lastChoice
  }

  return {
    target,
    attempts,
    devices,
    act(action) {
      if (action.do === 'choose') return void chooseNext(action.field, action.value, action.via)
      const device = devices[action.device]!
      if (action.do === 'connect') connect(device)
      else if (action.do === 'end') end(device, action.how)
      else {
        device.activities.set(action.activity, timeline.now())
        device.peer.setActivity(action.activity)
      }
    },
    choose: chooseNext,
    isSettled: () => choosing === 0,
    truth: () => ({
      target,
      isPresent: target.isPresent.current(),
      isActive: devices.some(({ isMeant, activities }) => isMeant && activities.current() === 'active'),
    }),
  }
}
