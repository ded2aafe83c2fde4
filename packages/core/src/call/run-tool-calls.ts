/** Runs the tool calls of one model turn: concurrently, bounded, with results in the order of the calls. */
import { ToolResult } from '../tool-result.ts'
import { callListener } from './running-call.ts'
import { runTool } from './run-tool.ts'

import type { AgentTool } from '../tool.ts'
import type { RunToolOptions } from './options.ts'
import type { ToolCall, ToolCallOutcome } from './outcome.ts'

/** Surroundings of a batch of calls. */
export interface RunToolCallsOptions extends Omit<RunToolOptions, 'idempotencyKey'> {
  /** Calls of this batch running at the same time, at most; less than 1 counts as 1. @default 8 */
  readonly maxConcurrentCalls?: number
  /** Put before each call's id to make its idempotency key. @default '' */
  readonly idempotencyPrefix?: string
  /** Told of each call as it ends, in the order of ending. What it throws is logged and changes nothing. */
  readonly onOutcome?: (call: ToolCall, outcome: ToolCallOutcome) => void
}

const DEFAULT_MAX_CONCURRENT_CALLS = 8

/** Runs `calls` on `tools`; one outcome a call, in the order of the calls. Never rejects. */
export async function runToolCalls(
  tools: readonly AgentTool[],
  calls: readonly ToolCall[],
  options: RunToolCallsOptions = {},
): Promise<readonly ToolCallOutcome[]> {
  const { onOutcome, idempotencyPrefix = '' } = options
  const width = Math.max(1, options.maxConcurrentCalls ?? DEFAULT_MAX_CONCURRENT_CALLS)
  const outcomes: ToolCallOutcome[] = []
  const waiting = calls.entries()
  const worker = async (): Promise<void> => {
    for (const [index, call] of waiting) {
      const tool = tools.find(({ name }) => name === call.name)
      const outcome =
        tool === undefined
          ? unknownTool(call.name, tools)
          : await runTool(tool, call, {
              ...options,
              idempotencyKey: `${idempotencyPrefix}${call.id}`,
            })
      outcomes[index] = outcome
      callListener(options, 'onOutcome', () => onOutcome?.(call, outcome))
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, calls.length) }, worker))
  return outcomes
}

function unknownTool(name: string, tools: readonly AgentTool[]): ToolCallOutcome {
  const known = tools.map((tool) => tool.name).join(', ')
  const result = ToolResult.failure(`Unknown tool "${name}". Available: [${known}]`)
  return { result, durationMs: 0, waitedMs: 0, end: 'finished' }
}
