/** A tool that calls several tools in sequence. */
import { pipelineDefinitionError, showType } from './definition-error.ts'
import { pipelineTool, type PipelineOptions } from './pipeline-tool.ts'

import type { AgentTool, TypedTool } from '@tutti/core'
import type { FittingList, InputOf, Last, OutputOf, SeenBy } from './step-types.ts'

/** Compile error of a pipeline without steps. */
interface NoSteps {
  readonly 'a pipeline needs at least one step': never
}

/**
 * Creates a tool that calls several tools in sequence, each with the output of the previous one:
 * `pipeline([search, summarize])`, or `pipeline([search, summarize], { name: 'digest' })`. A step that does not accept
 * the previous output is a compile error.
 *
 * @throws {TypeError} naming every problem of the definition.
 */
export function pipeline<const Steps extends readonly AgentTool[]>(
  steps: FittingList<unknown, Steps> & (Steps extends readonly [] ? NoSteps : unknown),
  options: PipelineOptions<SeenBy<Steps[0]>> = {},
): TypedTool<InputOf<Steps[0]>, OutputOf<Last<Steps>>> {
  if (!Array.isArray(steps)) {
    const problem = `the steps must be a list of tools, got ${showType(steps)}`
    throw pipelineDefinitionError('a pipeline', [problem], {})
  }
  // NOTE: the compiler accepts only tools.
  return pipelineTool({ options, steps: (steps as Steps).map((tool) => ({ tool })) })
}
