/**
 * Pure: what people did with a run, in the order of time, and when each act took effect.
 *
 * E1 The state says what there is; the log, where there is one, adds who and when. A file has no log.
 * E2 Nothing after `until` is told: an earlier moment of a run shows what had been done by then.
 * E3 A directive of an earlier version does not say when it was given. The event before it does not come
 *    later, so that a time counted from there is never too short: `isAtMost`.
 */
import type {
  CancelMode,
  DirectiveState,
  ReviewState,
  LoggedRunEvent,
  Priority,
  RunState,
  RunEventOf,
} from '@tutti/protocol'

import type { FollowedLog } from '../../api/run-log.ts'

interface Act {
  readonly key: string
  /** Milliseconds since 1970; undefined when it is not known. */
  readonly at: number | undefined
  /** Who: the name of a key, or what they call themselves. */
  readonly by: string | undefined
}

/** A directive reached a task. */
export interface Arrival {
  readonly taskName: string
  readonly attempt: number
  readonly iterationIndex: number
  readonly at: number
  /** Time since the directive was given; undefined when that is not known. */
  readonly afterMs: number | undefined
  /** Whether that time may have been shorter. */
  readonly isAtMost: boolean
}

/** Something that agents were told. */
export interface DirectiveAct extends Act {
  readonly kind: 'directive'
  readonly content: string
  /** Task or role; undefined for the whole run. */
  readonly to: string | undefined
  readonly priority: Priority
  readonly expiresAt: string | undefined
  readonly arrivals: readonly Arrival[]
}

/** A model was switched. */
export interface SwitchAct extends Act {
  readonly kind: 'switch'
  readonly model: string
  readonly previousModel: string | undefined
  /** Undefined for the whole run. */
  readonly taskName: string | undefined
  /** The tier that was asked for, and the rule of the ensemble that asked; undefined for none. */
  readonly tier?: string | undefined
  readonly rule?: string | undefined
  /** The first call of the new model; undefined when there was none yet. */
  readonly firstCall: FirstCall | undefined
}

/** A cancel was asked for. */
export interface CancelAct extends Act {
  readonly kind: 'cancel'
  readonly mode: CancelMode
  /** When the run had stopped; undefined when it has not, or that is not known. */
  readonly stoppedAt: number | undefined
  readonly isOver: boolean
  /** Whether it ended in another way: nothing was left to stop. */
  readonly endedOtherwise: boolean
}

/** A review was closed. */
export interface ReviewAct extends Act {
  readonly kind: 'review'
  readonly gate: ReviewState
}

/** Something that somebody did with a run. */
export type SteeringAct = DirectiveAct | SwitchAct | CancelAct | ReviewAct

/** Everything that was done, the oldest first; what has no time is where the log or the state has it. */
export function steeringActs(
  state: RunState,
  log?: FollowedLog,
  until: number = Infinity,
): readonly SteeringAct[] {
  const events = log === undefined ? [] : eventsUntil(log, until)
  const acts = [
    // An action is in the list as the switch that it made.
    ...state.directives
      .filter(({ action }) => action === undefined)
      .map((directive) => directiveAct(directive, events)),
    ...(log === undefined ? switchesOfState(state) : switchesOf(events)),
    ...cancelsOf(state, events),
    ...state.reviews.filter(({ status }) => status !== 'OPEN').map(reviewAct),
  ]
  return acts.toSorted((one, other) => (one.at ?? Infinity) - (other.at ?? Infinity))
}

/** An event and when it was at the latest. */
export interface TimedEvent {
  readonly event: LoggedRunEvent
  readonly at: number
}

/** Types of events that are looked at: of ten thousand events a few are, whatever the run is. */
const WANTED: ReadonlySet<LoggedRunEvent['type']> = new Set([
  'directive_active',
  'model_switched',
  'run_cancelling',
  'llm_iteration_started',
])

function eventsUntil({ events, instants }: FollowedLog, until: number): readonly TimedEvent[] {
  const timed: TimedEvent[] = []
  for (const [index, event] of events.entries()) {
    const at = instants[index] ?? 0
    if (at > until) break
    if (WANTED.has(event.type)) timed.push({ event, at })
  }
  return timed
}

function directiveAct(
  {
    directiveId,
    from,
    actor,
    content = '',
    to,
    priority = 'NORMAL',
    expiresAt,
    activeAt,
    delivered,
  }: DirectiveState,
  events: readonly TimedEvent[],
): DirectiveAct {
  const given = events.find(
    ({ event }) => event.type === 'directive_active' && event.directiveId === directiveId,
  )
  const isAtMost = activeAt === undefined
  const at = isAtMost ? given?.at : Date.parse(activeAt)
  return {
    kind: 'directive',
    key: directiveId,
    at,
    by: actor ?? from,
    content,
    to,
    priority,
    expiresAt,
    arrivals: delivered.map(({ taskName, attempt, iterationIndex, deliveredAt }) => {
      const arrived = Date.parse(deliveredAt)
      const afterMs = at === undefined ? undefined : Math.max(0, arrived - at)
      return { taskName, attempt, iterationIndex, at: arrived, afterMs, isAtMost }
    }),
  }
}

function switchesOf(events: readonly TimedEvent[]): readonly SwitchAct[] {
  return events.flatMap(({ event }, place) => {
    if (event.type !== 'model_switched') return []
    const { model, previousModel, taskName, tier, rule, actor: by, id } = event
    const at = Date.parse(event.switchedAt)
    const firstCall = reachedBy(event, events.slice(place + 1))
    const why = {
      ...(tier === undefined ? {} : { tier }),
      ...(rule === undefined ? {} : { rule }),
    }
    const to = { model, previousModel, taskName, firstCall, ...why }
    return [{ kind: 'switch', key: id, at, by, ...to } as const]
  })
}

/** Of a file only what was in force last is known. */
function switchesOfState({ model, tasks }: RunState): readonly SwitchAct[] {
  const unknown = { at: undefined, by: undefined, previousModel: undefined, firstCall: undefined }
  const ofTasks = tasks.flatMap((task): readonly SwitchAct[] => {
    if (task.model === undefined) return []
    const { model: used, name: taskName } = task
    return [{ kind: 'switch', key: `model ${taskName}`, model: used, taskName, ...unknown }]
  })
  if (model === undefined) return ofTasks
  return [{ kind: 'switch', key: 'model', model, taskName: undefined, ...unknown }, ...ofTasks]
}

function cancelsOf(state: RunState, events: readonly TimedEvent[]): readonly CancelAct[] {
  const { cancelMode, completedAt, status } = state
  if (cancelMode === undefined) return []
  const isOver = status === 'CANCELLED' || status === 'COMPLETED' || status === 'FAILED'
  const end = {
    stoppedAt: completedAt === undefined ? undefined : Date.parse(completedAt),
    isOver,
    endedOtherwise: isOver && status !== 'CANCELLED',
  }
  const asked = events.flatMap(({ event }): readonly CancelAct[] => {
    if (event.type !== 'run_cancelling') return []
    const { mode, actor: by, id, requestedAt } = event
    return [{ kind: 'cancel', key: id, at: Date.parse(requestedAt), by, mode, ...end }]
  })
  if (asked.length > 0) return asked
  return [{ kind: 'cancel', key: 'cancel', at: undefined, by: undefined, mode: cancelMode, ...end }]
}

function reviewAct(gate: ReviewState): ReviewAct {
  const { reviewId, decidedAt, withdrawnAt, decidedBy: by } = gate
  const said = decidedAt ?? withdrawnAt
  const at = said === undefined ? deadlineOf(gate) : Date.parse(said)
  return { kind: 'review', key: reviewId, at, by, gate }
}

/** When silence counted; the events that say so do not say when. */
function deadlineOf({ status, requestedAt, timeoutMs }: ReviewState): number | undefined {
  return status === 'TIMED_OUT' ? Date.parse(requestedAt) + timeoutMs : undefined
}

/** A model call of a task. */
interface FirstCall {
  readonly taskName: string
  readonly attempt: number
  readonly iterationIndex: number
  /** The model that was called, as the call names it. */
  readonly model: string
  /** Milliseconds since 1970, at the latest. */
  readonly at: number
}

/**
 * The first call that a switch concerns, among the events after it; undefined when there is none, or another
 * switch came first. A switch counts for every call that begins after it, so that names need not be
 * compared: in logs of earlier versions a switch has the alias of a model, and a call its own name.
 */
function reachedBy(
  { taskName }: RunEventOf<'model_switched'>,
  later: readonly TimedEvent[],
): FirstCall | undefined {
  /** Tasks that were switched on their own since then. */
  const apart = new Set<string>()
  for (const { event, at } of later) {
    if (event.type === 'model_switched') {
      // A switch of the run goes before those of its tasks; one of a task leaves the others as they are.
      if (event.taskName === undefined || event.taskName === taskName) return undefined
      apart.add(event.taskName)
    }
    if (event.type !== 'llm_iteration_started' || apart.has(event.taskName)) continue
    if (taskName !== undefined && event.taskName !== taskName) continue
    const { attempt, iterationIndex, model } = event
    return { taskName: event.taskName, attempt, iterationIndex, model, at }
  }
  return undefined
}
