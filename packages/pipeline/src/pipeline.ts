/** Tools in a row, as one tool. */
import { isJsonObject } from '@tutti/core'

import { pipelineTool, type PipelineOptions } from './pipeline-tool.ts'

import type { AgentTool, TypedTool } from '@tutti/core'
import type { FittingList, InputOf, Last, OutputOf, SeenBy } from './step-types.ts'

/** Either the first step, or the options of all; what approval looks like, {@link Approval} says. */
type Head = AgentTool | (Omit<PipelineOptions, 'requireApproval'> & { requireApproval?: unknown })

type Steps<First, Rest extends readonly AgentTool[]> = First extends AgentTool
  ? readonly [First, ...Rest]
  : Rest

type Given<First> = First extends AgentTool ? OutputOf<First> : unknown

/** Why a pipeline cannot be made, as the compiler says it. */
interface NoSteps {
  readonly 'a pipeline needs at least one step': never
}

/** Options whose reviewer reads of what the first step takes. */
type Approval<Input> = Pick<PipelineOptions<Input>, 'requireApproval'>

/**
 * Makes a tool of tools that run one after the other, each given what the one before it gave:
 * `pipeline(search, summarize)`, or `pipeline({ name: 'digest' }, search, summarize)`. A step that does
 * not take what comes is an error of the compiler.
 *
 * @throws {TypeError} naming everything that does not fit.
 */
export function pipeline<First extends Head, Rest extends readonly AgentTool[]>(
  first: First &
    Approval<SeenBy<Rest[0]>> &
    (Steps<First, Rest> extends readonly [] ? NoSteps : unknown),
  ...rest: FittingList<Given<First>, Rest>
): TypedTool<InputOf<Steps<First, Rest>[0]>, OutputOf<Last<Steps<First, Rest>>>> {
  // NOTE: what the compiler lets through is a tool, but for the options that may come first.
  const tools = (isOptions(first) ? rest : [first, ...rest]) as readonly AgentTool[]
  const options = isOptions(first) ? first : {}
  return pipelineTool({ options, steps: tools.map((tool) => ({ tool })) })
}

function isOptions(first: unknown): first is PipelineOptions {
  return isJsonObject(first) && !('call' in first)
}
