/**
 * A tool that calls another as a part of its own call, as pipelines do.
 *
 * CORE-N1 The step has the signal, reviewer, metrics and logger of the call that it is a part of, a key and
 *    an id below its own, and its own time limit within that of the whole.
 * CORE-N2 Its outcome is told as a step, unless the whole call is over.
 * CORE-N3 Early exit and misconfiguration go up: they are thrown, and end the whole call too.
 */
import { callListener, type CallToRun, type RunningCall } from './running-call.ts'

import type { AgentTool, CallToolOptions } from '../tool.ts'
import type { RunToolOptions } from './options.ts'
import type { NestedToolCall, ToolCallOutcome } from './outcome.ts'

/** A call within a call. */
export interface Step extends CallToolOptions {
  readonly tool: AgentTool
  readonly input: unknown
}

/** Makes a call; that of `run-tool.ts`, handed in because it makes the contexts that lead here. */
export type RunCall = (toRun: CallToRun) => Promise<ToolCallOutcome>

/** Makes the call as a step of `parent`; see `callTool` of {@link ToolContext}. */
export async function runStep(
  parent: RunningCall,
  step: Step,
  runCall: RunCall,
): Promise<ToolCallOutcome> {
  const { tool, input } = step
  parent.stepCount += 1
  const name = step.step ?? String(parent.stepCount)
  const call = { id: `${parent.call.id}/${name}`, name: tool.name, arguments: '' }
  const options = buildStepOptions(parent, step, name)
  parent.steps.set(name, tool.name)
  const outcome = await runCall({ tool, call, input, options, parent })
  if (outcome.end === 'abandoned') parent.hasAbandonedStep = true
  else parent.steps.delete(name)
  if (!parent.over && options.onNestedOutcome !== undefined) {
    const told: NestedToolCall = { ...call, arguments: toJsonText(input), parentId: parent.call.id }
    callListener(options, 'onNestedOutcome', () => options.onNestedOutcome?.(told, outcome))
  }
  if (outcome.error !== undefined) throw outcome.error
  return outcome
}

function buildStepOptions(parent: RunningCall, step: Step, name: string): RunToolOptions {
  // The turn of the whole call is also that of its steps: to wait for a second one could be for ever.
  const { limiter: _, ...shared } = parent.options
  const { signal } = step
  return {
    ...shared,
    signal: signal === undefined ? parent.signal : AbortSignal.any([parent.signal, signal]),
    idempotencyKey: `${shared.idempotencyKey ?? parent.call.id}/${name}`,
  }
}

function toJsonText(input: unknown): string {
  try {
    // Not every value is JSON: a function, for one, has no text.
    const text: string | undefined = JSON.stringify(input)
    return text ?? ''
  } catch {
    return ''
  }
}
