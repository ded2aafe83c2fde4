/**
 * The steering history of a run in order of time, with the time at which each action took effect.
 * Pure.
 *
 * DASH-E1 The actions come from the state; the log, if there is one, adds actors and times. Files have
 *    no log.
 * DASH-E2 Nothing after `until` is included, so that a replay shows the history up to its position.
 */
import type { LoggedRunEvent, RunState, RunEventOf } from '@tutti/protocol'
import type { CancelMode, DirectiveState, ReviewState, Priority } from '@tutti/protocol/internal'

import type { FollowedLog } from '../../api/run-log.ts'

interface Act {
  readonly key: string
  /** Milliseconds since 1970; undefined if unknown. */
  readonly at: number | undefined
  /** Actor: the name of a key, or a name that the client sent. */
  readonly by: string | undefined
}

/** Delivery of a directive to a task. */
export interface Arrival {
  readonly taskName: string
  readonly attempt: number
  readonly iterationIndex: number
  readonly at: number
  /** Time since the directive took effect, in milliseconds. */
  readonly afterMs: number
}

/** A directive with a text. */
export interface DirectiveAct extends Act {
  readonly kind: 'directive'
  readonly content: string
  /** Task or role; undefined for the whole run. */
  readonly to: string | undefined
  readonly priority: Priority
  readonly expiresAt: string | undefined
  readonly arrivals: readonly Arrival[]
}

/** A switch of the model. */
export interface SwitchAct extends Act {
  readonly kind: 'switch'
  readonly model: string
  readonly previousModel: string | undefined
  /** Undefined for the whole run. */
  readonly taskName: string | undefined
  /** Requested tier and triggering rule of the ensemble, if any. */
  readonly tier?: string | undefined
  readonly rule?: string | undefined
  /** First call after the switch; undefined if there was none. */
  readonly firstCall: FirstCall | undefined
}

/** A cancel request. */
export interface CancelAct extends Act {
  readonly kind: 'cancel'
  readonly mode: CancelMode
  /** Time at which the run stopped; undefined if it has not, or if unknown. */
  readonly stoppedAt: number | undefined
  readonly isOver: boolean
  /** Whether the run ended before it was cancelled. */
  readonly endedOtherwise: boolean
}

/** A closed review. */
export interface ReviewAct extends Act {
  readonly kind: 'review'
  readonly review: ReviewState
}

/** An action on a run. */
export type SteeringAct = DirectiveAct | SwitchAct | CancelAct | ReviewAct

/** Returns all actions, oldest first; actions without a time come last. */
export function listSteeringActs(
  state: RunState,
  log?: FollowedLog,
  until: number = Infinity,
): readonly SteeringAct[] {
  const events = log === undefined ? [] : selectEventsUntil(log, until)
  const acts = [
    // Directives with an action appear as the switch that they caused.
    ...state.directives.filter(({ action }) => action === undefined).map(toDirectiveAct),
    ...(log === undefined ? listSwitchesOfState(state) : listSwitches(events)),
    ...listCancels(state, events),
    ...state.reviews.filter(({ status }) => status !== 'OPEN').map(toReviewAct),
  ]
  return acts.toSorted((one, other) => (one.at ?? Infinity) - (other.at ?? Infinity))
}

/** An event and its time. */
export interface TimedEvent {
  readonly event: LoggedRunEvent
  readonly at: number
}

/** Types of relevant events: only a few of ten thousand. */
const WANTED: ReadonlySet<LoggedRunEvent['type']> = new Set([
  'directive_active',
  'model_switched',
  'run_cancelling',
  'llm_iteration_started',
])

function selectEventsUntil(
  { events, instants }: FollowedLog,
  until: number,
): readonly TimedEvent[] {
  const timed: TimedEvent[] = []
  for (const [index, event] of events.entries()) {
    const at = instants[index] ?? 0
    if (at > until) break
    if (WANTED.has(event.type)) timed.push({ event, at })
  }
  return timed
}

function toDirectiveAct({
  directiveId,
  from,
  actor,
  content = '',
  to,
  priority = 'NORMAL',
  expiresAt,
  activeAt,
  delivered,
}: DirectiveState): DirectiveAct {
  const at = Date.parse(activeAt)
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
      const afterMs = Math.max(0, arrived - at)
      return { taskName, attempt, iterationIndex, at: arrived, afterMs }
    }),
  }
}

function listSwitches(events: readonly TimedEvent[]): readonly SwitchAct[] {
  return events.flatMap(({ event }, index) => {
    if (event.type !== 'model_switched') return []
    const { model, previousModel, taskName, tier, rule, actor: by, id } = event
    const at = Date.parse(event.switchedAt)
    const firstCall = findFirstCall(event, events.slice(index + 1))
    const why = {
      ...(tier === undefined ? {} : { tier }),
      ...(rule === undefined ? {} : { rule }),
    }
    const to = { model, previousModel, taskName, firstCall, ...why }
    return [{ kind: 'switch', key: id, at, by, ...to } as const]
  })
}

/** Returns the switches of a file, which contains only the models in use at its end. */
function listSwitchesOfState({ model, tasks }: RunState): readonly SwitchAct[] {
  const unknown = { at: undefined, by: undefined, previousModel: undefined, firstCall: undefined }
  const ofTasks = tasks.flatMap((task): readonly SwitchAct[] => {
    if (task.model === undefined) return []
    const { model: used, name: taskName } = task
    return [{ kind: 'switch', key: `model ${taskName}`, model: used, taskName, ...unknown }]
  })
  if (model === undefined) return ofTasks
  return [{ kind: 'switch', key: 'model', model, taskName: undefined, ...unknown }, ...ofTasks]
}

function listCancels(state: RunState, events: readonly TimedEvent[]): readonly CancelAct[] {
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

function toReviewAct(review: ReviewState): ReviewAct {
  const { reviewId, decidedAt, withdrawnAt, decidedBy: by } = review
  const closedAt = decidedAt ?? withdrawnAt
  const at = closedAt === undefined ? findTimeoutDeadline(review) : Date.parse(closedAt)
  return { kind: 'review', key: reviewId, at, by, review }
}

/** Returns the deadline of a review that timed out, because its event has no time. */
function findTimeoutDeadline({ status, requestedAt, timeoutMs }: ReviewState): number | undefined {
  return status === 'TIMED_OUT' ? Date.parse(requestedAt) + timeoutMs : undefined
}

/** A model call of a task. */
interface FirstCall {
  readonly taskName: string
  readonly attempt: number
  readonly iterationIndex: number
  /** Model as named by the call. */
  readonly model: string
  /** Milliseconds since 1970; an upper bound. */
  readonly at: number
}

/**
 * Returns the first call affected by a switch, from the events after it; undefined if there is none
 * before the next switch. A switch affects every call that starts after it, so that names are not
 * compared.
 */
function findFirstCall(
  { taskName }: RunEventOf<'model_switched'>,
  later: readonly TimedEvent[],
): FirstCall | undefined {
  /** Tasks that were switched separately since then. */
  const apart = new Set<string>()
  for (const { event, at } of later) {
    if (event.type === 'model_switched') {
      // A switch of the run replaces those of its tasks; a switch of a task leaves the others
      // unchanged.
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
