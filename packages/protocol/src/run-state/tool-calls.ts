/**
 * Tool calls of one turn. They form a tree: `steps` of a call are the calls that it made. A step ends before the call that it
 * is a part of, so a step whose call is not known yet stays at the top level until that call ends.
 */
import type { RunEventOf } from '../schemas/run-event.ts'
import type { RequestedToolCall } from '../schemas/events/positions.ts'
import { subtractMs } from './instants.ts'
import type { ToolCallState } from './turn-state.ts'

type Calls = readonly ToolCallState[]

/** Returns the calls that a model requested at `askedAt`; a call without an id is known only when it ends. */
export function createRequestedCalls(
  requests: readonly RequestedToolCall[] = [],
  askedAt?: string,
): Calls {
  return requests.flatMap(({ id, name, arguments: text }) =>
    id === undefined ? [] : [{ ...createCall(id, name, askedAt), arguments: text }],
  )
}

/** Returns the calls after progress or the end of one of them. */
export function applyToToolCalls(
  calls: Calls,
  event: RunEventOf<'tool_progress' | 'tool_called'>,
): Calls {
  return event.type === 'tool_progress' ? updateProgress(calls, event) : endCall(calls, event)
}

/**
 * Returns the calls for a process that resumes the run at `resumedAt`: calls in flight are reset to the request of the
 * model and start again, and their progress is discarded.
 */
export function resetRunningCalls(calls: Calls, resumedAt: string): Calls {
  if (calls.every(({ status, parentToolCallId }) => !isInFlight(status, parentToolCallId))) {
    return calls
  }
  return calls.flatMap((call) => {
    if (!isInFlight(call.status, call.parentToolCallId)) return [call]
    return call.arguments === null || call.parentToolCallId !== undefined
      ? []
      : [{ ...createCall(call.id, call.name, resumedAt), arguments: call.arguments }]
  })
}

/** Returns the calls when their attempt has ended: running ones have failed. */
export function failRunningCalls(calls: Calls): Calls {
  return mapShared(calls, (call) => {
    const steps = failRunningCalls(call.steps)
    if (call.status === 'RUNNING') return { ...call, steps, status: 'FAILED' }
    return steps === call.steps ? call : { ...call, steps }
  })
}

/** Maps a list; returns the same list when `change` returns every member unchanged. */
export function mapShared<T>(list: readonly T[], change: (member: T) => T): readonly T[] {
  const changed = list.map((member) => change(member))
  return changed.every((member, index) => member === list[index]) ? list : changed
}

/** Whether a call is in flight. A step at the top level waits for its call, which is then in flight too. */
function isInFlight(
  status: ToolCallState['status'],
  parentToolCallId: string | undefined,
): boolean {
  return status === 'RUNNING' || parentToolCallId !== undefined
}

function updateProgress(calls: Calls, event: RunEventOf<'tool_progress'>): Calls {
  const { toolCallId, toolName, message, fraction, sentAt } = event
  const progress = { message, ...(fraction === undefined ? {} : { fraction }) }
  if (findCall(calls, toolCallId) === undefined) {
    return [...calls, { ...createCall(toolCallId, toolName, sentAt), progress }]
  }
  return changeCall(calls, toolCallId, (call) =>
    call.status === 'RUNNING' ? { ...call, progress } : call,
  )
}

function endCall(calls: Calls, event: RunEventOf<'tool_called'>): Calls {
  const { toolCallId: id, toolName, parentToolCallId: parent, durationMs, completedAt } = event
  const known = findCall(calls, id) ?? createCall(id, toolName)
  const startedAt = subtractMs(completedAt, durationMs) ?? known.startedAt
  const waiting = calls.filter(({ parentToolCallId }) => parentToolCallId === id)
  const call: ToolCallState = {
    ...known,
    name: toolName,
    arguments: event.toolArguments ?? known.arguments,
    status: event.outcome === 'SUCCESS' ? 'SUCCEEDED' : 'FAILED',
    result: event.toolResult,
    structured: event.structuredResult,
    durationMs,
    ...(startedAt === undefined ? {} : { startedAt }),
    completedAt,
    steps: [...known.steps, ...waiting],
    ...(parent === undefined ? {} : { parentToolCallId: parent }),
  }
  return placeCall(
    waiting.length === 0 ? calls : calls.filter((one) => !waiting.includes(one)),
    call,
  )
}

/** Puts the call into the tree: at its index if it is known, otherwise after its siblings. */
function placeCall(calls: Calls, call: ToolCallState): Calls {
  const { id, parentToolCallId } = call
  const parent = parentToolCallId === undefined ? undefined : findCall(calls, parentToolCallId)
  const siblings = parent?.steps ?? calls
  if (siblings.some((sibling) => sibling.id === id)) return changeCall(calls, id, () => call)
  const others = calls.filter((other) => other.id !== id)
  if (parent === undefined) return [...others, call]
  return changeCall(others, parent.id, (known) => ({ ...known, steps: [...known.steps, call] }))
}

function findCall(calls: Calls, id: string): ToolCallState | undefined {
  const own = calls.find((call) => call.id === id)
  if (own !== undefined) return own
  for (const { steps } of calls) {
    const found = steps.length === 0 ? undefined : findCall(steps, id)
    if (found !== undefined) return found
  }
  return undefined
}

function changeCall(
  calls: Calls,
  id: string,
  change: (call: ToolCallState) => ToolCallState,
): Calls {
  const at = calls.findIndex((call) => call.id === id)
  const call = calls[at]
  if (call !== undefined) {
    const changed = change(call)
    return changed === call ? calls : calls.with(at, changed)
  }
  for (const [index, parent] of calls.entries()) {
    const steps = parent.steps.length === 0 ? parent.steps : changeCall(parent.steps, id, change)
    if (steps !== parent.steps) return calls.with(index, { ...parent, steps })
  }
  return calls
}

function createCall(id: string, name: string, startedAt?: string): ToolCallState {
  const call: ToolCallState = { id, name, arguments: null, status: 'RUNNING', steps: [] }
  return startedAt === undefined ? call : { ...call, startedAt }
}
