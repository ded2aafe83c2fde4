/** Makes the logs of a run and of its forks comparable, event by event. */
import type { RunEvent, RunEventOf } from '@tutti/protocol'

/** The comparable events of a run, by the part of the run whose events have one order. */
export type ComparableLog = Readonly<Record<string, readonly unknown[]>>

/**
 * Returns the log of a run without what a fork of it changes: ids, times and usage. The events of calls in flight at a
 * fork are those of the repeated calls, and the events of decided reviews are those of the repeated reviews.
 */
export function toComparableLog(
  events: readonly RunEvent[],
  { anyOrder = false }: { readonly anyOrder?: boolean } = {},
): ComparableLog {
  return groupByStrand(discardInterrupted(events), (event) =>
    // How many tasks there are when one ends depends on the order of tasks that add others.
    anyOrder && 'totalTasks' in event ? { ...event, totalTasks: undefined } : event,
  )
}

/** Removes the events of calls that a fork or a resumption interrupted, and the events that report it. */
function discardInterrupted(events: readonly RunEvent[]): readonly RunEvent[] {
  let kept: RunEvent[] = []
  for (const event of events) {
    if (event.type === 'run_forked') kept = keepEnded(kept)
    else if (event.type !== 'run_resumed') kept.push(event)
  }
  return kept
}

function keepEnded(events: readonly RunEvent[]): RunEvent[] {
  const turns = new Set(
    events.flatMap((event) => (event.type === 'llm_iteration_completed' ? toTurn(event) : [])),
  )
  const calls = new Set(
    events.flatMap((event) =>
      event.type === 'tool_called' && event.parentToolCallId === undefined ? toCall(event) : [],
    ),
  )
  const ended = new Set(
    events.flatMap((event) =>
      event.type === 'task_attempt_failed' || event.type === 'task_failed' ? toAttempt(event) : [],
    ),
  )
  const repeated = findRepeatedReviews(events, ended)
  return events.filter((event) => {
    if ('reviewId' in event && repeated.has(event.reviewId)) return false
    // The calls of a failed attempt are not repeated.
    if ('attempt' in event && ended.has(toAttempt(event))) return true
    switch (event.type) {
      case 'directive_delivered':
      case 'llm_iteration_started':
      case 'llm_iteration_failed':
      case 'token':
        return turns.has(toTurn(event))
      case 'tool_called':
      case 'tool_progress':
      case 'agent_tool_invoked':
      case 'agent_tool_progress':
      case 'agent_tool_turn':
      case 'agent_tool_completed':
      case 'agent_tool_terminated':
      case 'agent_tool_error':
        return calls.has(toCall(event))
      default:
        return true
    }
  })
}

/**
 * Returns the ids of the reviews that a fork asks again: those of work that had not ended, without the open ones and without
 * the waits that an event or time has ended.
 */
function findRepeatedReviews(
  events: readonly RunEvent[],
  endedAttempts: ReadonlySet<string>,
): ReadonlySet<string> {
  const closed = new Set<string>()
  const waits = new Set<string>()
  const endedTasks = new Set<string>()
  const endedCalls = new Set<string>()
  for (const event of events) {
    if (event.type === 'tool_called') endedCalls.add(toAttemptCall(event))
    else if (event.type === 'task_completed' || event.type === 'task_failed') {
      endedTasks.add(event.taskName)
    } else if (event.type === 'review_requested') {
      if (event.waitsFor !== undefined) waits.add(event.reviewId)
    } else if ('reviewId' in event && !(waits.has(event.reviewId) && isEndOfWait(event))) {
      closed.add(event.reviewId)
    }
  }
  return new Set(
    events.flatMap((event) => {
      if (event.type !== 'review_requested' || !closed.has(event.reviewId)) return []
      if (endedTasks.has(event.taskName)) return []
      const hasEnded = endedAttempts.has(toAttempt(event)) || endedCalls.has(toAttemptCall(event))
      return isBefore(event) || !hasEnded ? event.reviewId : []
    }),
  )
}

function isEndOfWait(event: RunEvent): boolean {
  return (
    event.type === 'review_timed_out' ||
    (event.type === 'review_decided' && event.event !== undefined)
  )
}

/** Returns the key of a call of the model within its attempt, also for calls that its tool made. */
function toAttemptCall(event: Turn & { readonly toolCallId?: string | undefined }): string {
  return JSON.stringify([toAttempt(event), event.toolCallId?.split('/')[0]])
}

interface Turn {
  readonly taskName?: string | undefined
  readonly attempt?: number | undefined
  readonly iterationIndex?: number | undefined
}

function toAttempt({ taskName, attempt }: Turn): string {
  return JSON.stringify([taskName, attempt])
}

function toTurn({ taskName, attempt, iterationIndex }: Turn): string {
  return JSON.stringify([taskName, attempt, iterationIndex])
}

/** Returns the key of a call of the model, also for calls that its tool made. */
function toCall(event: Turn & { readonly toolCallId?: string | undefined }): string {
  return JSON.stringify([toTurn(event), event.toolCallId?.split('/')[0]])
}

function groupByStrand(
  events: readonly RunEvent[],
  toOrdered: (event: RunEvent) => object,
): ComparableLog {
  const strandOfReview = new Map<string, string>()
  const groups: Record<string, unknown[]> = {}
  for (const event of events) {
    if (event.type === 'review_requested') {
      strandOfReview.set(event.reviewId, toReviewStrand(event))
    }
    if (event.type === 'token' || event.type === 'metrics_snapshot') continue
    const reviewed = 'reviewId' in event ? strandOfReview.get(event.reviewId) : undefined
    const group = reviewed ?? toStrand(event)
    groups[group] ??= []
    groups[group].push(toComparable(isBefore(event) ? withoutAttempt(event) : toOrdered(event)))
  }
  return groups
}

function toReviewStrand(event: RunEventOf<'review_requested'>): string {
  const { taskName, toolCallId } = event
  if (isBefore(event)) return `before ${taskName}`
  return toolCallId === undefined ? taskName : `reviews of ${toCall(event)}`
}

function isBefore(event: RunEvent): event is RunEventOf<'review_requested'> {
  return event.type === 'review_requested' && event.timing === 'BEFORE_EXECUTION'
}

/** A fork asks before the task continues: with its attempt, and the description with which it began. */
function withoutAttempt(event: RunEventOf<'review_requested'>): object {
  const { taskDescription: _, attempt: __, ...rest } = event
  return rest
}

/** Returns the part of the run whose events have one order: a task, a tool call, a delegation or a directive. */
function toStrand(event: RunEvent): string {
  if (event.type === 'directive_active') return `directive ${event.content ?? ''}`
  if (!('taskName' in event)) return 'run'
  const { taskName = 'run' } = event
  if ('workerRole' in event) return `${taskName} to ${event.workerRole}`
  return 'toolCallId' in event ? `${toCall(event)} ${event.toolCallId ?? ''}` : taskName
}

/** Names of fields that differ: ids, times, durations and usage; messages are compared as part of the history. */
const DIFFERENT =
  /^(reviewId|delegationId|directiveId|messages|newMessages|.*At|.*_ms|.*Ms|timestamp.*|.*Tokens|.*_tokens|tokenCount|toolCallCount|totalToolCalls|cost.*|.*_cost|metrics|.*Usage|usage)$/

function toComparable(event: object): unknown {
  return JSON.parse(
    JSON.stringify(event, (key: string, value: unknown) =>
      DIFFERENT.test(key) ? undefined : value,
    ).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then'),
  )
}
