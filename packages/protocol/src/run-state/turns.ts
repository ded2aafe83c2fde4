/**
 * Turns of one attempt.
 *
 * Text grows by string concatenation: JavaScript engines store the parts and join them when the text is read, so the cost of
 * a token does not depend on the length of the text. Turns are ordered by index and searched from the last one, which nearly
 * every event is about.
 */
import type { RunEventOf } from '../schemas/run-event.ts'
import { subtractMs } from './instants.ts'
import {
  failRunningCalls,
  resetRunningCalls,
  mapShared,
  createRequestedCalls,
  applyToToolCalls,
} from './tool-calls.ts'
import type { TurnFailure, TurnState } from './turn-state.ts'

/** Event of one turn of an attempt. */
export type TurnEvent = RunEventOf<
  | 'llm_iteration_started'
  | 'reasoning'
  | 'token'
  | 'llm_iteration_completed'
  | 'llm_iteration_failed'
  | 'tool_progress'
  | 'tool_called'
>

type Turns = readonly TurnState[]

/** Returns the turns after one of their events. Any event that names a model creates its turn. */
export function applyToTurns(turns: Turns, event: TurnEvent): Turns {
  switch (event.type) {
    case 'llm_iteration_started':
      return beginTurn(turns, event)
    case 'llm_iteration_completed':
      return setTurn(turns, completeTurn(getOrCreateTurn(turns, event), event))
    case 'llm_iteration_failed':
      return setTurn(turns, failTurn(getOrCreateTurn(turns, event), event))
    case 'reasoning':
      return changeTurn(turns, event, (turn) =>
        turn.status === 'RUNNING'
          ? { ...turn, reasoning: (turn.reasoning ?? '') + event.text }
          : turn,
      )
    case 'token':
      return changeTurn(turns, event, (turn) =>
        turn.status === 'RUNNING' ? { ...turn, text: turn.text + event.token } : turn,
      )
    case 'tool_progress':
    case 'tool_called':
      return changeTurn(turns, event, (turn) => {
        const toolCalls = applyToToolCalls(turn.toolCalls, event)
        return toolCalls === turn.toolCalls ? turn : { ...turn, toolCalls }
      })
  }
}

/**
 * Returns the turns for a process that resumes the run at `resumedAt`: turns in flight are discarded, except for their
 * failures.
 */
export function discardRunningTurns(turns: Turns, resumedAt: string): Turns {
  const remaining = turns.filter(
    ({ status, failures }) => status !== 'RUNNING' || failures.length > 0,
  )
  return mapShared(remaining.length === turns.length ? turns : remaining, (turn) => {
    if (turn.status === 'RUNNING') {
      const { reasoning: _, ...rest } = turn
      return { ...rest, status: 'FAILED', text: '' }
    }
    const toolCalls = resetRunningCalls(turn.toolCalls, resumedAt)
    return toolCalls === turn.toolCalls ? turn : { ...turn, toolCalls }
  })
}

/** Returns the turns when their attempt has ended: running ones have failed and keep their text. */
export function failRunningTurns(turns: Turns): Turns {
  return mapShared(turns, (turn) => {
    const toolCalls = failRunningCalls(turn.toolCalls)
    if (turn.status === 'RUNNING') return { ...turn, toolCalls, status: 'FAILED' }
    return toolCalls === turn.toolCalls ? turn : { ...turn, toolCalls }
  })
}

/** Begins a turn. A turn that begins again keeps only its failures, and later turns are discarded. */
function beginTurn(turns: Turns, event: RunEventOf<'llm_iteration_started'>): Turns {
  const { messages, totalMessageCount, startedAt } = event
  const { at, turn } = locateTurn(turns, event)
  const begun: TurnState = {
    ...createTurn(event),
    messages,
    totalMessageCount,
    failures: turn?.failures ?? [],
    ...(startedAt === undefined ? {} : { startedAt }),
  }
  // The list of `concat` makes each later copy several times as slow.
  return turns.toSpliced(at, turns.length - at, begun)
}

function completeTurn(turn: TurnState, event: RunEventOf<'llm_iteration_completed'>): TurnState {
  const { model, responseType, inputTokens, outputTokens, latencyMs, costUsd, completedAt } = event
  const { finishReason, refusal, cachedInputTokens, reasoningTokens } = event
  const { reasoning, reasoningTruncated } = event
  const startedAt = turn.startedAt ?? subtractMs(completedAt, latencyMs)
  const { isWithdrawn: _, isCopied: __, ...begun } = turn
  return {
    ...begun,
    model,
    status: 'COMPLETED',
    text: event.responseText ?? turn.text,
    responseType,
    toolCalls: createRequestedCalls(event.toolRequests, completedAt),
    inputTokens,
    outputTokens,
    latencyMs,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(completedAt === undefined ? {} : { completedAt }),
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(refusal === undefined ? {} : { refusal }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(reasoningTruncated === undefined ? {} : { reasoningTruncated }),
  }
}

function failTurn(turn: TurnState, event: RunEventOf<'llm_iteration_failed'>): TurnState {
  const { model, reason, code, latencyMs, failedAt, retryInMs, retryAfterMs, nextModel } = event
  const failure: TurnFailure = {
    model,
    reason,
    code,
    latencyMs,
    failedAt,
    ...(retryInMs === undefined ? {} : { retryInMs }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(nextModel === undefined ? {} : { nextModel }),
  }
  const failures = [...turn.failures, failure]
  return { ...turn, model, status: 'FAILED', isWithdrawn: true, failures }
}

interface NamedTurn {
  readonly iterationIndex: number
  readonly model: string
}

function createTurn({ iterationIndex, model }: NamedTurn): TurnState {
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

function getOrCreateTurn(turns: Turns, named: NamedTurn): TurnState {
  return locateTurn(turns, named).turn ?? createTurn(named)
}

function setTurn(turns: Turns, turn: TurnState): Turns {
  const { at, turn: known } = locateTurn(turns, turn)
  return known === undefined ? turns.toSpliced(at, 0, turn) : turns.with(at, turn)
}

function changeTurn(
  turns: Turns,
  named: Pick<TurnState, 'iterationIndex'>,
  change: (turn: TurnState) => TurnState,
): Turns {
  const { at, turn } = locateTurn(turns, named)
  if (turn === undefined) return turns
  const changed = change(turn)
  return changed === turn ? turns : turns.with(at, changed)
}

/** Returns the turn and its index, or the index where it belongs. */
function locateTurn(
  turns: Turns,
  { iterationIndex }: Pick<TurnState, 'iterationIndex'>,
): { readonly at: number; readonly turn: TurnState | undefined } {
  const last = turns.findLastIndex((turn) => turn.iterationIndex <= iterationIndex)
  const turn = turns[last]
  return turn?.iterationIndex === iterationIndex
    ? { at: last, turn }
    : { at: last + 1, turn: undefined }
}
