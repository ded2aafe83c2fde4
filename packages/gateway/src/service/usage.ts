/** Pure: folds the events of a run into its usage, and formats it as the usage extension does. */
import { addAmounts, USAGE_EXTENSION, type LoggedRunEvent, type RunEvent } from '@tutti/protocol'

/** Tokens and cost of a run so far. */
export interface RunUsage {
  /** Input and output tokens, with estimates for those that a provider did not report. */
  readonly tokens: number
  /** Sum of the known costs, in US dollars; absent while no cost is known. */
  readonly knownCostUsd?: number
  /** Whether a model without a known price was used, which makes the total cost unknown. */
  readonly hasUnknownCost: boolean
}

/** Usage of a run that has not begun. */
export const NO_RUN_USAGE: RunUsage = { tokens: 0, hasUnknownCost: false }

/** Types of the events that report usage. */
export const USAGE_EVENTS = [
  'llm_iteration_completed',
  'agent_tool_progress',
  'agent_tool_turn',
  'agent_tool_completed',
  'agent_tool_terminated',
  'agent_tool_error',
] as const satisfies readonly LoggedRunEvent['type'][]

/** Usage of one event. */
export interface EventUsage {
  /** In US dollars; absent if unknown. */
  readonly costUsd?: number
  readonly tokens: number
}

/** Returns the usage that an event of a model call or of another agent reports; undefined when it reports none. */
export function readEventUsage(event: RunEvent): EventUsage | undefined {
  switch (event.type) {
    case 'llm_iteration_completed': {
      const { costUsd, inputTokens, outputTokens, countedTokens } = event
      const tokens =
        countedTokens ?? addAmounts(Math.max(0, inputTokens), Math.max(0, outputTokens))
      return { tokens, ...(costUsd === undefined ? {} : { costUsd }) }
    }
    case 'agent_tool_progress':
    case 'agent_tool_turn':
    case 'agent_tool_completed':
    case 'agent_tool_terminated':
    case 'agent_tool_error': {
      const { cost_usd: costUsd, input_tokens: read = 0, output_tokens: written = 0 } = event
      const tokens = addAmounts(read, written)
      if (costUsd === undefined && tokens === 0) return undefined
      return { tokens, ...(costUsd === undefined ? {} : { costUsd }) }
    }
    default:
      return undefined
  }
}

/** Adds the usage of an event. An agent that does not report its cost counts as free. */
export function addEventUsage(usage: RunUsage, event: RunEvent): RunUsage {
  const used = readEventUsage(event)
  if (used === undefined) return usage
  const { costUsd, tokens } = used
  const isUnpriced = event.type === 'llm_iteration_completed' && tokens > 0 && costUsd === undefined
  return {
    ...usage,
    tokens: addAmounts(usage.tokens, tokens),
    hasUnknownCost: usage.hasUnknownCost || isUnpriced,
    ...(costUsd === undefined
      ? {}
      : { knownCostUsd: addAmounts(usage.knownCostUsd ?? 0, costUsd) }),
  }
}

/** Returns metadata with the usage so far and, if `before` is given, the cost since then. */
export function toUsageMetadata(
  now: RunUsage,
  before?: RunUsage,
): Readonly<Record<string, unknown>> {
  const total = sumCost(now)
  const earlier = before === undefined ? undefined : sumCost(before)
  return {
    [USAGE_EXTENSION]: {
      total_tokens: now.tokens,
      ...(total === undefined ? {} : { total_cost_usd: total }),
      ...(total === undefined || earlier === undefined ? {} : { cost_usd: total - earlier }),
    },
  }
}

function sumCost({ knownCostUsd = 0, hasUnknownCost }: RunUsage): number | undefined {
  return hasUnknownCost ? undefined : knownCostUsd
}
