/** Makes the logs of a run and of its forks comparable, event by event. */
import type { RunEvent } from '@tutti/protocol'

/** The comparable events of a run, by the part of the run whose events have one order. */
export type ComparableLog = Readonly<Record<string, readonly unknown[]>>

/**
 * Returns the log of a run without what a fork of it changes: ids, times and usage. The events of calls in flight at a
 * fork are those of the repeated calls.
 */
export function toComparableLog(events: readonly RunEvent[]): ComparableLog {
  return groupByStrand(discardInterrupted(events))
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
  return events.filter((event) => {
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

function groupByStrand(events: readonly RunEvent[]): ComparableLog {
  const taskOfReview = new Map<string, string>()
  const groups: Record<string, unknown[]> = {}
  for (const event of events) {
    if (event.type === 'review_requested') taskOfReview.set(event.reviewId, event.taskName)
    if (event.type === 'token' || event.type === 'metrics_snapshot') continue
    const reviewed = 'reviewId' in event ? taskOfReview.get(event.reviewId) : undefined
    const group = reviewed ?? toStrand(event)
    groups[group] ??= []
    groups[group].push(toComparable(event))
  }
  return groups
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
