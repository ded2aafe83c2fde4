/** A tool that calls several tools in sequence. */
import { isJsonObject } from '@tutti/core'

import { pipelineTool, type PipelineOptions } from './pipeline-tool.ts'

import type { AgentTool, TypedTool } from '@tutti/core'
import type { FittingList, InputOf, Last, OutputOf, SeenBy } from './step-types.ts'

/** Either the first step, or the options; {@link Approval} adds the type of `requireApproval`. */
type Head = AgentTool | (Omit<PipelineOptions, 'requireApproval'> & { requireApproval?: unknown })

type Steps<First, Rest extends readonly AgentTool[]> = First extends AgentTool
  ? readonly [First, ...Rest]
  : Rest

type Given<First> = First extends AgentTool ? OutputOf<First> : unknown

/** Compile error of a pipeline without steps. */
interface NoSteps {
  readonly 'a pipeline needs at least one step': never
}

/** Approval by a reviewer who receives the input of the first step. */
type Approval<Input> = Pick<PipelineOptions<Input>, 'requireApproval'>

/**
 * Creates a tool that calls several tools in sequence, each with the output of the previous one:
 * `pipeline(search, summarize)`, or `pipeline({ name: 'digest' }, search, summarize)`. A step that does not accept the
 * previous output is a compile error.
 *
 * @throws {TypeError} naming every problem of the definition.
 */
export function pipeline<First extends Head, Rest extends readonly AgentTool[]>(
  first: First &
    Approval<SeenBy<Rest[0]>> &
    (Steps<First, Rest> extends readonly [] ? NoSteps : unknown),
  ...rest: FittingList<Given<First>, Rest>
): TypedTool<InputOf<Steps<First, Rest>[0]>, OutputOf<Last<Steps<First, Rest>>>> {
  // NOTE: the compiler accepts only tools, except for options as the first argument.
  const tools = (isOptions(first) ? rest : [first, ...rest]) as readonly AgentTool[]
  const options = isOptions(first) ? first : {}
  return pipelineTool({ options, steps: tools.map((tool) => ({ tool })) })
}

function isOptions(first: unknown): first is PipelineOptions {
  return isJsonObject(first) && !('call' in first)
}
