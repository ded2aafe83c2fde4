/**
 * Pure: the tool calls of one turn after an event. They are a tree: a step of a call is in `steps` of
 * that call. A step ends before the call that it is a part of, so one whose call is not known yet
 * stays at the top until that call ends and takes it in.
 */
import type { RunEventOf } from '../schemas/run-event.ts'
import type { RequestedToolCall } from '../schemas/events/positions.ts'
import type { ToolCallState } from './turn-state.ts'

type Calls = readonly ToolCallState[]

/** The calls that a model asked for; one without an id is known when it ends. */
export function requestedCalls(requests: readonly RequestedToolCall[] = []): Calls {
  return requests.flatMap(({ id, name, arguments: text }) =>
    id === undefined ? [] : [{ ...newCall(id, name), arguments: text }],
  )
}

/** The calls after one of them told how far it is, or ended. */
export function toolCallsAfter(
  calls: Calls,
  event: RunEventOf<'tool_progress' | 'tool_called'>,
): Calls {
  return event.type === 'tool_progress' ? progressed(calls, event) : ended(calls, event)
}

/**
 * The calls as another process finds them: those that had not ended are as the model asked for them,
 * and what only they told is gone.
 */
export function forgetRunningCalls(calls: Calls): Calls {
  if (calls.every(({ status, parentToolCallId }) => !isInFlight(status, parentToolCallId))) {
    return calls
  }
  return calls.flatMap((call) => {
    if (!isInFlight(call.status, call.parentToolCallId)) return [call]
    return call.arguments === null || call.parentToolCallId !== undefined
      ? []
      : [{ ...newCall(call.id, call.name), arguments: call.arguments }]
  })
}

/** The calls when their attempt is over: what still ran was cut off. */
export function failRunningCalls(calls: Calls): Calls {
  return mapShared(calls, (call) => {
    const steps = failRunningCalls(call.steps)
    if (call.status === 'RUNNING') return { ...call, steps, status: 'FAILED' }
    return steps === call.steps ? call : { ...call, steps }
  })
}

/** The same list when `change` gives back every member as it is. */
export function mapShared<T>(list: readonly T[], change: (member: T) => T): readonly T[] {
  const changed = list.map((member) => change(member))
  return changed.every((member, index) => member === list[index]) ? list : changed
}

/** A step at the top waits for its call to end, so that call is in flight too. */
function isInFlight(
  status: ToolCallState['status'],
  parentToolCallId: string | undefined,
): boolean {
  return status === 'RUNNING' || parentToolCallId !== undefined
}

function progressed(calls: Calls, event: RunEventOf<'tool_progress'>): Calls {
  const { toolCallId, toolName, message, fraction } = event
  const progress = { message, ...(fraction === undefined ? {} : { fraction }) }
  if (findCall(calls, toolCallId) === undefined) {
    return [...calls, { ...newCall(toolCallId, toolName), progress }]
  }
  return changeCall(calls, toolCallId, (call) =>
    call.status === 'RUNNING' ? { ...call, progress } : call,
  )
}

function ended(calls: Calls, event: RunEventOf<'tool_called'>): Calls {
  const { toolCallId: id, toolName, parentToolCallId: parent } = event
  const known = findCall(calls, id) ?? newCall(id, toolName)
  const call: ToolCallState = {
    ...known,
    name: toolName,
    arguments: event.toolArguments ?? known.arguments,
    status: event.outcome === 'SUCCESS' ? 'SUCCEEDED' : 'FAILED',
    result: event.toolResult,
    structured: event.structuredResult,
    durationMs: event.durationMs,
    steps: [...known.steps, ...calls.filter(({ parentToolCallId }) => parentToolCallId === id)],
    ...(parent === undefined ? {} : { parentToolCallId: parent }),
  }
  return placed(
    calls.filter(({ parentToolCallId }) => parentToolCallId !== id),
    call,
  )
}

/** The tree with the call where it belongs: in its own place when it is there, else after its siblings. */
function placed(calls: Calls, call: ToolCallState): Calls {
  const { id, parentToolCallId } = call
  const parent = parentToolCallId === undefined ? undefined : findCall(calls, parentToolCallId)
  const siblings = parent?.steps ?? calls
  if (siblings.some((sibling) => sibling.id === id)) return changeCall(calls, id, () => call)
  const others = calls.filter((other) => other.id !== id)
  if (parent === undefined) return [...others, call]
  return changeCall(others, parent.id, (known) => ({ ...known, steps: [...known.steps, call] }))
}

function findCall(calls: Calls, id: string): ToolCallState | undefined {
  for (const call of calls) {
    const found = call.id === id ? call : findCall(call.steps, id)
    if (found !== undefined) return found
  }
  return undefined
}

function changeCall(
  calls: Calls,
  id: string,
  change: (call: ToolCallState) => ToolCallState,
): Calls {
  return mapShared(calls, (call) => {
    if (call.id === id) return change(call)
    const steps = changeCall(call.steps, id, change)
    return steps === call.steps ? call : { ...call, steps }
  })
}

function newCall(id: string, name: string): ToolCallState {
  return { id, name, arguments: null, status: 'RUNNING', steps: [] }
}
