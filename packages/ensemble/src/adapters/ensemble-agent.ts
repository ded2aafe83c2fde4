/**
 * An ensemble as an agent of this process: each turn is a run of the ensemble.
 *
 * ENS-N1 A run inherits from its caller: it is cancelled with the turn, belongs to the trace, and gets at
 *    most the remaining budget.
 * ENS-N2 The usage of the run is reported as it accrues, and its events as chunks.
 * ENS-N3 Its reviews are questions to the reviewer of the caller, whose decision counts; an early exit there
 *    ends both runs.
 */
import { AgentError, type LocalAgent, type LocalAgentRequest } from '@tutti/agent-call/internal'
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import { narrowedBudget } from '../run/narrowed-budget.ts'
import { startRun } from '../run/start-run.ts'
import { inputsFrom } from './inputs-from.ts'
import { CallerReviewer } from './caller-reviewer.ts'
import { AgentUpdates } from './update-queue.ts'

import type { Budget } from '../usage/budget.ts'
import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { RunOptions } from '../run/run-options.ts'
import type { RunResult } from '../run/run-result.ts'
import type { AgentAnswer, AgentUpdate, AgentUsageReport } from '@tutti/agent-call/internal'
import type { RunEvent } from '@tutti/protocol'

/** Options of the runs of an ensemble that serves as an agent, in addition to those of its caller. */
export type AgentRunOptions = Pick<
  RunOptions,
  'memories' | 'models' | 'prices' | 'reflections' | 'toolMetrics'
>

/** Creates the agent of an ensemble; see `Ensemble.asAgent`. */
export function createEnsembleAgent(
  ensemble: ResolvedEnsemble,
  options: AgentRunOptions,
): LocalAgent {
  return {
    answer: (request) => streamAnswer(ensemble, options, request),
    // A cancelled run gives its own calls a grace period, and ends after that.
    graceMs: Infinity,
  }
}

async function* streamAnswer(
  ensemble: ResolvedEnsemble,
  options: AgentRunOptions,
  request: LocalAgentRequest,
): AsyncGenerator<AgentUpdate, AgentAnswer> {
  const queue = new AgentUpdates<AgentUpdate>()
  const reviewer = request.hasReviewer ? new CallerReviewer(ensemble.name, request) : undefined
  const { result } = startAgentRun(ensemble, request, {
    ...options,
    ...(reviewer === undefined ? {} : { reviewer }),
    onEvent: (event) => {
      for (const update of toUpdates(event)) queue.add(update)
    },
  })
  queue.closeWith(result)
  try {
    yield* queue.updates()
  } finally {
    // Even if the caller stops reading, the turn ends only after the run has stopped.
    await result
  }
  const ended = await result
  if (reviewer?.exit !== undefined) throw reviewer.exit
  return toAnswer(ensemble, ended)
}

function startAgentRun(
  ensemble: ResolvedEnsemble,
  { input, signal, clock, logger, traceparent, remaining }: LocalAgentRequest,
  options: RunOptions,
): ReturnType<typeof startRun> {
  const { prices } = options
  try {
    return startRun(ensemble, inputsFrom(ensemble, input), {
      ...options,
      signal,
      clock,
      logger,
      budget: narrowedBudget(ensemble, toBudget(remaining()), { prices, logger }),
      ...(traceparent === undefined ? {} : { traceparent }),
    })
  } catch (error) {
    throw new AgentError(errorMessage(error), {
      failureType: 'configuration',
      retryable: false,
      cause: error,
    })
  }
}

/** Returns the remaining amounts as a budget without the unlimited ones. */
function toBudget({ timeMs, costUsd, tokens }: ReturnType<LocalAgentRequest['remaining']>): Budget {
  return {
    ...(timeMs === Infinity ? {} : { maxDurationMs: timeMs }),
    ...(costUsd === Infinity ? {} : { maxCostUsd: costUsd }),
    ...(tokens === Infinity ? {} : { maxTokens: tokens }),
  }
}

/** Types of events that the caller receives as chunks; tokens and model turns are not among them. */
const FORWARDED_EVENTS: readonly RunEvent['type'][] = [
  'task_started',
  'tool_called',
  'agent_tool_invoked',
  'agent_tool_progress',
  'agent_tool_turn',
  'agent_tool_completed',
  'agent_tool_terminated',
  'agent_tool_error',
  'delegation_started',
  'delegation_completed',
  'delegation_failed',
  'review_requested',
  'review_decided',
  'task_completed',
  'task_attempt_failed',
  'task_failed',
  'task_skipped',
]

function toUpdates(event: RunEvent): readonly AgentUpdate[] {
  const usage = toUsageReport(event)
  if (FORWARDED_EVENTS.includes(event.type)) {
    return [{ kind: 'chunk', chunk: event, ...(usage === undefined ? {} : { usage }) }]
  }
  return usage === undefined ? [] : [{ kind: 'usage', usage }]
}

/**
 * Returns the usage that an event reports. Tokens that the provider did not report are those that budgets count, as
 * output.
 */
function toUsageReport(event: RunEvent): AgentUsageReport | undefined {
  if (event.type === 'llm_iteration_completed') {
    const { inputTokens, outputTokens, costUsd = 0, countedTokens } = event
    if (countedTokens === undefined) return { inputTokens, outputTokens, costUsd }
    const read = Math.max(0, inputTokens)
    return { inputTokens: read, outputTokens: countedTokens - read, costUsd }
  }
  if (!('retry_index' in event)) return undefined
  const { input_tokens: inputTokens, output_tokens: outputTokens, cost_usd: costUsd } = event
  if (inputTokens === undefined && outputTokens === undefined && costUsd === undefined) {
    return undefined
  }
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    costUsd: costUsd ?? 0,
  }
}

/**
 * Converts the result of a run to an answer.
 *
 * @throws {AgentError} when the run did not complete; `partial` has the outputs of the completed tasks.
 */
function toAnswer(
  ensemble: ResolvedEnsemble,
  { status, output, tasks, error }: RunResult,
): AgentAnswer {
  const last = tasks.find((task) => task.output === output && task.structured !== undefined)
  if (status === 'COMPLETED') {
    return { kind: 'end', state: 'completed', output: last?.structured ?? output, text: output }
  }
  const done = tasks.map(({ taskName, output: text }) => ({ task: taskName, output: text }))
  const why = error === undefined ? 'it was cancelled' : error.message
  throw new AgentError(`Ensemble "${ensemble.name}" failed: ${why}`, {
    failureType: 'agent_failed',
    retryable: TuttiError.isInstance(error) && error.retryable,
    ...(done.length === 0 ? {} : { partial: done }),
    ...(error === undefined ? {} : { cause: error }),
  })
}
