/**
 * Runs the steps of a pipeline, one after the other.
 *
 *   input ─▶ step 1 ─result─▶ adapter ─▶ step 2 ─result─▶ … ─▶ result of the last step
 *
 * P1 Each step is given what the one before it gave, as `hand-off.ts` has it, or what the adapter after
 *    that one made of it. The first is given the input of the pipeline.
 * P2 An adapter runs only after a step that worked and that has a next one.
 * P3 FAIL_FAST: the result of a step that failed is the result of the pipeline, as it is; later steps do
 *    not run.
 * P4 CONTINUE_ON_FAILURE: the error message is handed to the next step; the result of the last step is
 *    that of the pipeline, whatever came before.
 * P5 A step that threw is named by its failure. So is the step after which an adapter threw, or whose
 *    output cannot be handed on; that counts as a failure of the step, for P3 and P4.
 * P6 When the pipeline is stopped, the step in flight is told, and no later one begins.
 * P7 Early exit and misconfiguration, of a step or thrown by an adapter, end the pipeline whatever its
 *    strategy.
 */
import { ToolResult, type AgentTool, type ToolContext } from '@tutti/core'
import { callOwn } from './call-own.ts'
import { callPart, resultOf } from './call-part.ts'
import { handOff, inputFor, valueOf, type HandOff } from './hand-off.ts'

import type { PipelineErrorStrategy } from './error-strategy.ts'
import type { Adapter } from './step-types.ts'

/** One step, and what is done with its result before the next. */
export interface PipelineStep {
  readonly tool: AgentTool
  readonly adapter?: Adapter
}

/** The steps in their order. */
export interface PipelineSteps {
  /** Those that hand on. */
  readonly leading: readonly PipelineStep[]
  readonly last: AgentTool
  readonly errorStrategy: PipelineErrorStrategy
}

/** Runs the steps; the result is that of the last one, or of the one that ended it. */
export async function runSteps(
  { leading, last, errorStrategy }: PipelineSteps,
  input: unknown,
  context: ToolContext,
): Promise<ToolResult> {
  let given = input
  for (const [index, step] of leading.entries()) {
    const next = leading[index + 1]?.tool ?? last
    const result = await callStep(step.tool, { index, given, context })
    const handed = result.success ? await adapted(step, { result, next, context }) : failed(result)
    if (!handed.ok && errorStrategy === 'FAIL_FAST') {
      return result.success ? ToolResult.failure(handed.message) : result
    }
    given = handed.ok ? handed.value : inputFor(next, handed.message)
  }
  return callStep(last, { index: leading.length, given, context })
}

interface StepCall {
  /** Place among the steps, from 0. */
  readonly index: number
  readonly given: unknown
  readonly context: ToolContext
}

async function callStep(tool: AgentTool, { index, given, context }: StepCall): Promise<ToolResult> {
  const part = { tool, input: given, who: `Step '${tool.name}'` }
  return resultOf(await callPart(part, context, { step: `${index + 1}:${tool.name}` }), part)
}

interface Handover {
  readonly result: ToolResult
  readonly next: AgentTool
  readonly context: ToolContext
}

/** What the next tool is given of the result of a step that worked. */
async function adapted(
  { tool, adapter }: PipelineStep,
  { result, next, context }: Handover,
): Promise<HandOff> {
  const handed = adapter === undefined ? handOff(result, tool, next) : valueOf(result, tool)
  if (!handed.ok || adapter === undefined) return handed
  const who = `Adapter after step '${tool.name}'`
  const declared = tool.outputSchema !== undefined
  const whole = declared ? { ...result, structured: handed.value } : result
  const called = await callOwn(() => adapter(whole, context), who, context)
  return called.ok ? { ok: true, value: inputFor(next, called.value) } : called
}

function failed({ errorMessage }: ToolResult): HandOff {
  return { ok: false, message: errorMessage ?? '' }
}
