/**
 * Pure: the usage of a run from its log: tokens and cost of its model calls and of the agents that its tools call.
 *
 * PROTO-U3 The usage of a fork begins at its `run_forked`: its parent has paid for the events that it copied.
 */
import { addAmounts } from './amounts.ts'

import type { LoggedRunEvent, RunEvent } from './schemas/run-event.ts'
import type { UsageSum } from './usage-sum.ts'

/** Types of the events that change the usage of a run. */
export const USAGE_EVENTS = [
  'run_forked',
  'llm_iteration_completed',
  'agent_tool_invoked',
  'agent_tool_progress',
  'agent_tool_turn',
  'agent_tool_completed',
  'agent_tool_terminated',
  'agent_tool_error',
] as const satisfies readonly LoggedRunEvent['type'][]

/** Usage of one model call, or of an agent since its previous event. */
export interface EventUsage extends UsageSum {
  /** Whether a model was called, or another agent. */
  readonly kind: 'model' | 'agent'
  /** Name of the model, or of the tool that calls the agent. */
  readonly source: string
  /** Input and output tokens, with estimates for those that the provider did not report. */
  readonly tokens: number
  /** Whether tokens were used whose price is not known. An agent that does not report its cost counts as free. */
  readonly isUnpriced: boolean
}

/** Usage of a run so far. Numbers that were not reported count as 0, except in `tokens`. */
export interface RunUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Part of `inputTokens` that providers read from their caches. */
  readonly cachedInputTokens: number
  /** Part of `outputTokens` that models used to reason. */
  readonly reasoningTokens: number
  /** Input and output tokens, with estimates for those that a provider did not report. */
  readonly tokens: number
  /** Sum of the known costs, in US dollars; absent while no cost is known. */
  readonly knownCostUsd?: number
  /** Whether a model without a known price was used, so that the total cost is not known. */
  readonly hasUnknownCost: boolean
}

/** Usage of a run that has not begun. */
export const NO_RUN_USAGE: RunUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  tokens: 0,
  hasUnknownCost: false,
}

/** Returns the usage that an event reports; undefined when it reports none. */
export function readEventUsage(event: RunEvent): EventUsage | undefined {
  switch (event.type) {
    case 'llm_iteration_completed': {
      const { model, inputTokens, outputTokens, countedTokens, costUsd } = event
      const { cachedInputTokens, reasoningTokens } = event
      const reported = addAmounts(Math.max(0, inputTokens), Math.max(0, outputTokens))
      const tokens = countedTokens ?? reported
      return {
        kind: 'model',
        source: model,
        inputTokens,
        outputTokens,
        ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
        ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
        tokens,
        ...(costUsd === undefined ? {} : { costUsd }),
        isUnpriced: tokens > 0 && costUsd === undefined,
      }
    }
    case 'agent_tool_invoked':
    case 'agent_tool_progress':
    case 'agent_tool_turn':
    case 'agent_tool_completed':
    case 'agent_tool_terminated':
    case 'agent_tool_error': {
      const { toolName: source, cost_usd: costUsd } = event
      const { input_tokens: inputTokens = 0, output_tokens: outputTokens = 0 } = event
      const tokens = addAmounts(inputTokens, outputTokens)
      if (costUsd === undefined && tokens === 0) return undefined
      const cost = costUsd === undefined ? {} : { costUsd }
      return {
        kind: 'agent',
        source,
        inputTokens,
        outputTokens,
        tokens,
        ...cost,
        isUnpriced: false,
      }
    }
    default:
      return undefined
  }
}

/** Returns the usage after an event (PROTO-U3). */
export function addEventUsage(usage: RunUsage, event: RunEvent): RunUsage {
  if (event.type === 'run_forked') return NO_RUN_USAGE
  const used = readEventUsage(event)
  if (used === undefined) return usage
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = used
  const { knownCostUsd } = usage
  const costUsd =
    used.costUsd === undefined ? knownCostUsd : addAmounts(knownCostUsd ?? 0, used.costUsd)
  return {
    inputTokens: addAmounts(usage.inputTokens, Math.max(0, inputTokens)),
    outputTokens: addAmounts(usage.outputTokens, Math.max(0, outputTokens)),
    cachedInputTokens: addAmounts(usage.cachedInputTokens, cachedInputTokens),
    reasoningTokens: addAmounts(usage.reasoningTokens, reasoningTokens),
    tokens: addAmounts(usage.tokens, used.tokens),
    ...(costUsd === undefined ? {} : { knownCostUsd: costUsd }),
    hasUnknownCost: usage.hasUnknownCost || used.isUnpriced,
  }
}

/** Returns the cost of a run in US dollars; undefined when not known. */
export function readRunCost({ knownCostUsd = 0, hasUnknownCost }: RunUsage): number | undefined {
  return hasUnknownCost ? undefined : knownCostUsd
}
