/**
 * Runs the steps of a pipeline in sequence.
 *
 *   input ─▶ step 1 ─result─▶ adapter ─▶ step 2 ─result─▶ … ─▶ result of the last step
 *
 * PIPE-P1 Each step receives the output of the previous one, as defined in `hand-off.ts`, or the value of the adapter
 *    between them. The first step receives the input of the pipeline.
 * PIPE-P2 An adapter runs only after a step that has succeeded and is not the last.
 * PIPE-P3 FAIL_FAST: the result of a failed step is the result of the pipeline, unchanged; later steps do not run.
 * PIPE-P4 CONTINUE_ON_FAILURE: the next step receives the error message; the last step's result is the pipeline's
 * result, regardless of earlier steps.
 * PIPE-P5 The failure of a step that threw names it. If an adapter throws, or an output cannot be passed on, the
 *    failure names the step before, and counts as its failure for PIPE-P3 and PIPE-P4.
 * PIPE-P6 When the pipeline is aborted, the signal of the step in flight aborts, and no later step starts.
 * PIPE-P7 Early exit and misconfiguration, of a step or thrown by an adapter, end the pipeline regardless of its
 *    strategy.
 */
import { ToolResult, type AgentTool, type ToolContext } from '@tutti/core'
import { callOwn } from './call-own.ts'
import { callPart, toPartResult } from './call-part.ts'
import { handOff, toToolInput, toValue, type HandOff } from './hand-off.ts'

import type { PipelineErrorStrategy } from './error-strategy.ts'
import type { Adapter } from './step-types.ts'

/** A step, and the adapter for its result. */
export interface PipelineStep {
  readonly tool: AgentTool
  readonly adapter?: Adapter
}

export interface PipelineSteps {
  /** Steps before the last. */
  readonly leading: readonly PipelineStep[]
  readonly last: AgentTool
  readonly errorStrategy: PipelineErrorStrategy
}

/** Runs the steps. Returns the result of the last step, or of the one that ended the pipeline. */
export async function runSteps(
  { leading, last, errorStrategy }: PipelineSteps,
  input: unknown,
  context: ToolContext,
): Promise<ToolResult> {
  let given = input
  for (const [index, step] of leading.entries()) {
    const next = leading[index + 1]?.tool ?? last
    const result = await callStep(step.tool, { index, given, context })
    const handOver = result.success
      ? await adaptResult(step, { result, next, context })
      : toFailure(result)
    if (!handOver.ok && errorStrategy === 'FAIL_FAST') {
      return result.success ? ToolResult.failure(handOver.message) : result
    }
    given = handOver.ok ? handOver.value : toToolInput(next, handOver.message)
  }
  return callStep(last, { index: leading.length, given, context })
}

interface StepCall {
  /** Index of the step, from 0. */
  readonly index: number
  readonly given: unknown
  readonly context: ToolContext
}

async function callStep(tool: AgentTool, { index, given, context }: StepCall): Promise<ToolResult> {
  const part = { tool, input: given, label: `Step '${tool.name}'` }
  return toPartResult(await callPart(part, context, { step: `${index + 1}:${tool.name}` }), part)
}

interface Handover {
  readonly result: ToolResult
  readonly next: AgentTool
  readonly context: ToolContext
}

/** Converts the result of a successful step to the input of the next one. */
async function adaptResult(
  { tool, adapter }: PipelineStep,
  { result, next, context }: Handover,
): Promise<HandOff> {
  const value = adapter === undefined ? handOff(result, tool, next) : toValue(result, tool)
  if (!value.ok || adapter === undefined) return value
  const label = `Adapter after step '${tool.name}'`
  const declared = tool.outputSchema !== undefined
  const whole = declared ? { ...result, structured: value.value } : result
  const called = await callOwn(() => adapter(whole, context), label, context)
  return called.ok ? { ok: true, value: toToolInput(next, called.value) } : called
}

function toFailure({ errorMessage }: ToolResult): HandOff {
  return { ok: false, message: errorMessage ?? '' }
}
