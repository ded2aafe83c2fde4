/**
 * Calls of other tools as steps of a call, as in pipelines.
 *
 * CORE-N1 A step has the signal, reviewer, metrics and logger of the call that it is a part of, a key and an id below
 *    those of that call, and a separate time limit within that of the whole call.
 * CORE-N2 Its outcome is reported as a step, unless the whole call has ended.
 * CORE-N3 Early exit and misconfiguration are thrown, and end the whole call too.
 */
import { formatExactJson } from '@tutti/protocol/internal'

import { callListener, type CallToRun, type RunningCall } from './running-call.ts'

import type { AgentTool, CallToolOptions } from '../tool/tool.ts'
import type { RunToolOptions } from './options.ts'
import type { NestedToolCall, ToolCallOutcome } from '../tool/outcome.ts'

/** Call within a call. */
export interface Step extends CallToolOptions {
  readonly tool: AgentTool
  readonly input: unknown
}

/** Runs a call: `runCall` of `run-tool.ts`, passed as a parameter because the two modules would import each other. */
export type RunCall = (toRun: CallToRun) => Promise<ToolCallOutcome>

/** Runs a call as a step of `parent`; see `callTool` of {@link ToolContext}. */
export async function runStep(
  parent: RunningCall,
  step: Step,
  runCall: RunCall,
): Promise<ToolCallOutcome> {
  const { tool, input } = step
  parent.stepCount += 1
  const name = step.step ?? String(parent.stepCount)
  const call = { id: `${parent.call.id}/${name}`, name: tool.name, arguments: '' }
  const options = buildStepOptions(parent, step)
  const idempotencyKey = `${parent.idempotencyKey}/${name}`
  parent.beginStep(name, tool)
  const outcome = await runCall({ tool, call, input, options, idempotencyKey, parent })
  parent.endStep(name, outcome)
  if (!parent.over && options.onNestedOutcome !== undefined) {
    const nested: NestedToolCall = {
      ...call,
      arguments: formatInput(input),
      parentId: parent.call.id,
    }
    callListener(options, 'onNestedOutcome', () => options.onNestedOutcome?.(nested, outcome))
  }
  if (outcome.error !== undefined) throw outcome.error
  return outcome
}

function buildStepOptions(parent: RunningCall, { signal }: Step): RunToolOptions {
  // The slot of the whole call also covers its steps: waiting for a second one could deadlock.
  const { limiter: _, ...shared } = parent.options
  return {
    ...shared,
    signal: signal === undefined ? parent.signal : AbortSignal.any([parent.signal, signal]),
  }
}

function formatInput(input: unknown): string {
  try {
    return formatExactJson(input) ?? ''
  } catch {
    return ''
  }
}
