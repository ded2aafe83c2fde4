/** A tool that calls several tools with the same input at the same time. */
import { ToolResult, Type } from '@tutti/core'
import { compoundTool, type CompoundSettings } from './compound-tool.ts'
import {
  pipelineDefinitionError,
  findNameProblems,
  findToolOptionProblems,
  toolSettings,
} from './definition-error.ts'
import { createCompoundReader } from './input-reader.ts'
import { findStrategyProblems, type PipelineErrorStrategy } from './error-strategy.ts'
import { findConcurrencyProblems, fanOut, type FannedPart } from './fan-out.ts'
import { toToolInput, createValueResult } from './hand-off.ts'
import { isTool, findToolProblems } from './is-tool.ts'
import { createPartSchema, type PartOutput } from './part-failure.ts'

import type { AgentTool, TSchema, TypedTool } from '@tutti/core'
import type { OptionNames } from '@tutti/core/internal'
import type { Flat, OutputOf, SharedInput, SharedSeen } from './step-types.ts'

/** Tools by the names of their results. */
export type Branches = Readonly<Record<string, AgentTool>>

/** Options of {@link parallel}. */
export interface ParallelOptions<
  Input = unknown,
  Strategy extends PipelineErrorStrategy = PipelineErrorStrategy,
> extends CompoundSettings<Input> {
  /**
   * With FAIL_FAST, the first failure stops the other branches. With CONTINUE_ON_FAILURE, a failed branch returns
   * `{ error }` in place of its result. @default FAIL_FAST
   */
  readonly errorStrategy?: Strategy
  /** Maximum number of branches that run at the same time. @default all */
  readonly concurrency?: number
}

const OWN_OPTIONS = {
  errorStrategy: true,
  concurrency: true,
} as const satisfies OptionNames<Omit<ParallelOptions, keyof CompoundSettings<unknown>>>

/** Outputs of the branches by name. */
export type ParallelOutput<Tools extends Branches, Strategy extends PipelineErrorStrategy> = Flat<{
  -readonly [Name in keyof Tools]: PartOutput<OutputOf<Tools[Name]>, Strategy>
}>

/**
 * Creates a tool that calls all `branches` with the same input at the same time, and returns their results by name:
 * `parallel({ news: searchNews, papers: searchPapers })`.
 *
 * @throws {TypeError} naming every problem of the definition.
 */
export function parallel<
  const Tools extends Branches,
  const Strategy extends PipelineErrorStrategy = 'FAIL_FAST',
>(
  branches: Tools,
  options: ParallelOptions<SharedSeen<Tools[keyof Tools]>, Strategy> = {},
): TypedTool<SharedInput<Tools[keyof Tools]>, ParallelOutput<Tools, Strategy>> {
  const { errorStrategy = 'FAIL_FAST', concurrency = Infinity } = options
  const settings = toolSettings(options)
  const entries = Object.entries<AgentTool>(branches)
  const tools = entries.map(([, tool]) => tool).filter(isTool)
  const name = entries.map(([key]) => key.replaceAll(/[^A-Za-z0-9_-]/g, '_')).join('_and_')
  const [first, ...others] = tools
  const problems = [
    ...(entries.length === 0 ? ['at least one branch is required'] : []),
    ...entries.flatMap(([key, tool]) => findToolProblems(tool, `branch '${key}'`)),
    ...findToolOptionProblems(options, OWN_OPTIONS),
    ...findStrategyProblems(errorStrategy),
    ...findConcurrencyProblems(concurrency),
    ...findNameProblems(name, settings),
  ]
  if (first === undefined || problems.length > 0) {
    throw pipelineDefinitionError('a parallel tool', problems, settings)
  }
  const reader = createCompoundReader([first, ...others])
  return compoundTool({
    tools,
    settings,
    defaults: {
      name,
      description: `Parallel: ${entries.map(([key, tool]) => `${key} (${tool.name})`).join(', ')}`,
      timeoutMs: computeTimeLimit(tools, concurrency),
    },
    reader,
    outputSchema: createOutputSchema(entries, errorStrategy),
    async run({ value }, context) {
      const parts = entries.map(([key, tool]): FannedPart => ({
        tool,
        input: toToolInput(tool, value),
        label: `Branch '${key}'`,
        step: key,
      }))
      const outcome = await fanOut(parts, { context, concurrency, errorStrategy })
      if (!outcome.ok) return ToolResult.failure(outcome.message)
      return createValueResult(
        Object.fromEntries(entries.map(([key], at) => [key, outcome.values[at]])),
      )
    },
  })
}

/** Returns the time limit: the longest one if all tools run at once, otherwise the sum, as for sequential calls. */
function computeTimeLimit(tools: readonly AgentTool[], concurrency: number): number {
  const limits = tools.map(({ timeoutMs }) => timeoutMs)
  if (concurrency >= tools.length) return Math.max(...limits)
  return limits.reduce((sumMs, limitMs) => sumMs + limitMs, 0)
}

function createOutputSchema(
  entries: readonly (readonly [key: string, tool: AgentTool])[],
  errorStrategy: PipelineErrorStrategy,
): TSchema {
  const properties = entries.map(([key, tool]) => {
    return [key, createPartSchema(tool, errorStrategy, ['properties', key])] as const
  })
  return Type.Object(Object.fromEntries(properties))
}
