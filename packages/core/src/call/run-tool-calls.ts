/** Execution of the tool calls of one model turn: concurrent up to a limit, with results in the order of the calls. */
import { ToolResult } from '../tool/tool-result.ts'
import { callListener } from './running-call.ts'
import { parseAndRun } from './run-tool.ts'

import type { AgentTool } from '../tool/tool.ts'
import type { RunToolOptions } from './options.ts'
import type { ToolCall, ToolCallOutcome } from '../tool/outcome.ts'

/** Options of a batch of calls. */
export interface RunToolCallsOptions extends Omit<RunToolOptions, 'idempotencyKey'> {
  /** Maximum number of concurrent calls of this batch; less than 1 counts as 1. @default 8 */
  readonly maxConcurrentCalls?: number
  /** Prefix of each call's id in its idempotency key. @default '' */
  readonly idempotencyPrefix?: string
  /** Called with each call as it ends, in the order of ending. Errors that it throws are logged and ignored. */
  readonly onOutcome?: (call: ToolCall, outcome: ToolCallOutcome) => void
}

const DEFAULT_MAX_CONCURRENT_CALLS = 8

/** Runs `calls` on `tools` and returns one outcome for each call, in the order of the calls. Never rejects. */
export function runToolCalls(
  tools: readonly AgentTool[],
  calls: readonly ToolCall[],
  options: RunToolCallsOptions = {},
): Promise<readonly ToolCallOutcome[]> {
  const [only] = calls
  return calls.length === 1 && only !== undefined
    ? runListedCall(tools, only, options).then((outcome) => [outcome])
    : runBatch(tools, calls, options)
}

async function runBatch(
  tools: readonly AgentTool[],
  calls: readonly ToolCall[],
  options: RunToolCallsOptions,
): Promise<readonly ToolCallOutcome[]> {
  const width = Math.max(1, options.maxConcurrentCalls ?? DEFAULT_MAX_CONCURRENT_CALLS)
  const outcomes: ToolCallOutcome[] = []
  const waiting = calls.entries()
  const worker = async (): Promise<void> => {
    for (const [index, call] of waiting) {
      outcomes[index] = await runListedCall(tools, call, options)
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, calls.length) }, worker))
  return outcomes
}

/** Runs a call on the tool with its name, and reports its outcome. */
function runListedCall(
  tools: readonly AgentTool[],
  call: ToolCall,
  options: RunToolCallsOptions,
): Promise<ToolCallOutcome> {
  const { idempotencyPrefix = '' } = options
  const idempotencyKey = `${idempotencyPrefix}${call.id}`
  const onOutcome = (outcome: ToolCallOutcome): void => {
    callListener(options, 'onOutcome', () => options.onOutcome?.(call, outcome))
  }
  const tool = tools.find(({ name }) => name === call.name)
  if (tool !== undefined) return parseAndRun({ tool, call, options, idempotencyKey, onOutcome })
  const outcome = unknownTool(call.name, tools)
  onOutcome(outcome)
  return Promise.resolve(outcome)
}

function unknownTool(name: string, tools: readonly AgentTool[]): ToolCallOutcome {
  const known = tools.map((tool) => tool.name).join(', ')
  const result = ToolResult.failure(`Unknown tool "${name}". Available: [${known}]`)
  return { result, durationMs: 0, waitedMs: 0, end: 'finished' }
}
