/**
 * Pure: the turns of one attempt after an event.
 *
 * Text grows by joining strings: an engine keeps the parts and flattens them when the text is read, so
 * a token costs the same however long the text is.
 */
import type { RunEventOf } from '../schemas/run-event.ts'
import {
  failRunningCalls,
  forgetRunningCalls,
  mapShared,
  requestedCalls,
  toolCallsAfter,
} from './tool-calls.ts'
import type { TurnFailure, TurnState } from './turn-state.ts'

/** An event of one turn of an attempt. */
export type TurnEvent = RunEventOf<
  | 'llm_iteration_started'
  | 'token'
  | 'llm_iteration_completed'
  | 'llm_iteration_failed'
  | 'tool_progress'
  | 'tool_called'
>

type Turns = readonly TurnState[]

/** The turns after one of their events. A turn is made by any event that names its model. */
export function turnsAfter(turns: Turns, event: TurnEvent): Turns {
  switch (event.type) {
    case 'llm_iteration_started':
      return begun(turns, event)
    case 'llm_iteration_completed':
      return withTurn(turns, completed(turnOf(turns, event), event))
    case 'llm_iteration_failed':
      return withTurn(turns, failed(turnOf(turns, event), event))
    case 'token':
      return changeTurn(turns, event, (turn) =>
        turn.status === 'RUNNING' ? { ...turn, text: turn.text + event.token } : turn,
      )
    case 'tool_progress':
    case 'tool_called':
      return changeTurn(turns, event, (turn) => {
        const toolCalls = toolCallsAfter(turn.toolCalls, event)
        return toolCalls === turn.toolCalls ? turn : { ...turn, toolCalls }
      })
  }
}

/** The turns as another process finds them: what was in flight is forgotten, what failed is not. */
export function forgetRunningTurns(turns: Turns): Turns {
  const kept = turns.filter(({ status, failures }) => status !== 'RUNNING' || failures.length > 0)
  return mapShared(kept.length === turns.length ? turns : kept, (turn) => {
    if (turn.status === 'RUNNING') return { ...turn, status: 'FAILED', text: '' }
    const toolCalls = forgetRunningCalls(turn.toolCalls)
    return toolCalls === turn.toolCalls ? turn : { ...turn, toolCalls }
  })
}

/** The turns when their attempt is over: what still ran was cut off, and its text stays. */
export function failRunningTurns(turns: Turns): Turns {
  return mapShared(turns, (turn) => {
    const toolCalls = failRunningCalls(turn.toolCalls)
    if (turn.status === 'RUNNING') return { ...turn, toolCalls, status: 'FAILED' }
    return toolCalls === turn.toolCalls ? turn : { ...turn, toolCalls }
  })
}

/** A turn that begins anew keeps its failures only; turns after it are void with it. */
function begun(turns: Turns, event: RunEventOf<'llm_iteration_started'>): Turns {
  const { failures } = turnOf(turns, event)
  const { messages, totalMessageCount } = event
  return [
    ...turns.filter(({ iterationIndex }) => iterationIndex < event.iterationIndex),
    { ...newTurn(event), messages, totalMessageCount, failures },
  ]
}

function completed(turn: TurnState, event: RunEventOf<'llm_iteration_completed'>): TurnState {
  const { model, responseType, inputTokens, outputTokens, latencyMs, costUsd } = event
  return {
    ...turn,
    model,
    status: 'COMPLETED',
    text: event.responseText ?? turn.text,
    responseType,
    toolCalls: requestedCalls(event.toolRequests),
    inputTokens,
    outputTokens,
    latencyMs,
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

function failed(turn: TurnState, event: RunEventOf<'llm_iteration_failed'>): TurnState {
  const { model, reason, code, latencyMs, failedAt, retryInMs, nextModel } = event
  const failure: TurnFailure = {
    model,
    reason,
    code,
    latencyMs,
    failedAt,
    ...(retryInMs === undefined ? {} : { retryInMs }),
    ...(nextModel === undefined ? {} : { nextModel }),
  }
  return { ...turn, model, status: 'FAILED', failures: [...turn.failures, failure] }
}

interface NamedTurn {
  readonly iterationIndex: number
  readonly model: string
}

function newTurn({ iterationIndex, model }: NamedTurn): TurnState {
  return {
    iterationIndex,
    model,
    status: 'RUNNING',
    text: '',
    messages: [],
    totalMessageCount: 0,
    toolCalls: [],
    failures: [],
  }
}

function turnOf(turns: Turns, named: NamedTurn): TurnState {
  return turns.find((turn) => turn.iterationIndex === named.iterationIndex) ?? newTurn(named)
}

function withTurn(turns: Turns, turn: TurnState): Turns {
  const { iterationIndex } = turn
  return [
    ...turns.filter((other) => other.iterationIndex < iterationIndex),
    turn,
    ...turns.filter((other) => other.iterationIndex > iterationIndex),
  ]
}

function changeTurn(
  turns: Turns,
  { iterationIndex }: { readonly iterationIndex: number },
  change: (turn: TurnState) => TurnState,
): Turns {
  const at = turns.findLastIndex((turn) => turn.iterationIndex === iterationIndex)
  const turn = turns[at]
  if (turn === undefined) return turns
  const changed = change(turn)
  return changed === turn ? turns : turns.with(at, changed)
}
