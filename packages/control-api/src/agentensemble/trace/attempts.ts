/**
 * Pure: from the events of a run to what each attempt at a task did, and when.
 *
 * Model turns, tool calls and delegations say when they were. Logs of earlier versions say only how long
 * they took; there a turn begins when the last thing before it in its task was over, the calls of a turn
 * begin together when it has ended, and a delegation begins when the last thing before it was over. In
 * every log a call begins no earlier than its turn has ended, and nothing ends before it begins: a clock
 * that was set back, or an instant that was rounded, does not turn a span round.
 */
import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'

/** When something was. */
export interface WorkSpan {
  readonly startedAt: number
  readonly completedAt: number
}

/** One tool call, or a step of one. */
export interface AttemptCall extends WorkSpan {
  readonly event: RunEventOf<'tool_called'>
}

/** One model turn that was answered, with the tool calls it asked for. */
export interface TracedTurn extends WorkSpan {
  readonly started: RunEventOf<'llm_iteration_started'>
  readonly completed: RunEventOf<'llm_iteration_completed'>
  readonly calls: AttemptCall[]
}

/** Work that was handed to another. */
export interface TracedDelegation {
  readonly started: RunEventOf<'delegation_started'>
  readonly startedAt: number
  end?: RunEventOf<'delegation_completed' | 'delegation_failed'>
  /** When it ended, where its end says so. */
  endedAt?: number
}

/** One try of a task. */
export interface TracedAttempt {
  readonly started: RunEventOf<'task_started'>
  input?: RunEventOf<'task_input'>
  readonly turns: TracedTurn[]
  readonly delegations: TracedDelegation[]
  end?: RunEventOf<'task_completed' | 'task_attempt_failed' | 'task_failed'>
}

interface Open extends TracedAttempt {
  /** When the last thing that is known of it was over. */
  clock: number
  turn?: { readonly started: RunEventOf<'llm_iteration_started'>; readonly startedAt: number }
}

/** The attempts of a run, in the order in which they began. */
export function collectAttempts(events: readonly LoggedRunEvent[]): readonly TracedAttempt[] {
  const all = new Map<string, Open>()
  for (const event of events) {
    if (event.type === 'task_started') {
      all.set(keyOf(event), {
        started: event,
        turns: [],
        delegations: [],
        clock: Date.parse(event.startedAt),
      })
    }
    const attempt = 'attempt' in event ? all.get(keyOf(event)) : undefined
    if (attempt !== undefined) take(attempt, event)
  }
  return [...all.values()]
}

function keyOf({ taskName, attempt }: Pick<RunEventOf<'task_started'>, 'taskName' | 'attempt'>) {
  return JSON.stringify([taskName, attempt])
}

function take(attempt: Open, event: LoggedRunEvent): void {
  const at = readInstant(event)
  if (at !== undefined) attempt.clock = Math.max(attempt.clock, at)
  switch (event.type) {
    case 'task_input':
      attempt.input ??= event
      break
    case 'llm_iteration_started':
      attempt.turn = { started: event, startedAt: at ?? attempt.clock }
      break
    case 'llm_iteration_completed':
      endTurn(attempt, event, at)
      break
    case 'tool_called':
      endCall(attempt, event, at)
      break
    case 'delegation_started':
      attempt.delegations.push({ started: event, startedAt: at ?? attempt.clock })
      break
    case 'delegation_completed':
    case 'delegation_failed': {
      const { delegationId } = event
      const begun = attempt.delegations.find(({ started }) => started.delegationId === delegationId)
      if (begun === undefined) break
      begun.end = event
      if (at !== undefined) begun.endedAt = at
      break
    }
    case 'task_completed':
    case 'task_attempt_failed':
    case 'task_failed':
      attempt.end = event
      break
  }
}

function endTurn(
  attempt: Open,
  completed: RunEventOf<'llm_iteration_completed'>,
  at: number | undefined,
): void {
  const { turn } = attempt
  if (turn === undefined) return
  const { startedAt } = turn
  const ended = at ?? Math.max(attempt.clock, startedAt + completed.latencyMs)
  const completedAt = Math.max(startedAt, ended)
  attempt.turns.push({ ...turn, completed, completedAt, calls: [] })
  attempt.clock = Math.max(attempt.clock, completedAt)
  delete attempt.turn
}

function endCall(attempt: Open, event: RunEventOf<'tool_called'>, at: number | undefined): void {
  const turn = attempt.turns.findLast(
    ({ completed }) => completed.iterationIndex === event.iterationIndex,
  )
  if (turn === undefined) return
  const begun = at === undefined ? turn.completedAt : at - event.durationMs
  const startedAt = Math.max(turn.completedAt, begun)
  const completedAt = Math.max(startedAt, at ?? startedAt + event.durationMs)
  turn.calls.push({ event, startedAt, completedAt })
  attempt.clock = Math.max(attempt.clock, completedAt)
}

/** When an event of a task happened, where it says so. */
function readInstant(event: LoggedRunEvent): number | undefined {
  const at = readTimestamp(event)
  return at === undefined ? undefined : Date.parse(at)
}

function readTimestamp(event: LoggedRunEvent): string | undefined {
  switch (event.type) {
    case 'llm_iteration_started':
    case 'delegation_started':
      return event.startedAt
    case 'llm_iteration_completed':
    case 'tool_called':
    case 'delegation_completed':
      return event.completedAt
    case 'delegation_failed':
      return event.failedAt
    case 'task_input':
    case 'tool_progress':
      return event.sentAt
    case 'llm_iteration_failed':
      return event.failedAt
    case 'review_requested':
      return event.requestedAt
    case 'directive_delivered':
      return event.deliveredAt
    default:
      return undefined
  }
}
