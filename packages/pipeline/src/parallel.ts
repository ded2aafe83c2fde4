/** Tools side by side, as one tool. */
import { ToolResult, Type } from '@tutti/core'
import { compoundTool, type CompoundSettings } from './compound-tool.ts'
import {
  pipelineDefinitionError,
  nameProblems,
  optionProblems,
  toolSettings,
} from './definition-error.ts'
import { doorTo } from './door.ts'
import { strategyProblems, type PipelineErrorStrategy } from './error-strategy.ts'
import { concurrencyProblems, fanOut, type FannedPart } from './fan-out.ts'
import { inputFor, valueResult } from './hand-off.ts'
import { isTool, toolProblems } from './is-tool.ts'
import { partSchema, type PartOutput } from './part-failure.ts'

import type { AgentTool, OptionNames, TSchema, TypedTool } from '@tutti/core'
import type { Flat, OutputOf, SharedInput, SharedSeen } from './step-types.ts'

/** Tools by the names that their results get. */
export type Branches = Readonly<Record<string, AgentTool>>

/** What the author may set. */
export interface ParallelOptions<
  Input = unknown,
  Strategy extends PipelineErrorStrategy = PipelineErrorStrategy,
> extends CompoundSettings<Input> {
  /**
   * With FAIL_FAST the first failure stops the other branches; with CONTINUE_ON_FAILURE a branch that
   * failed gives `{ error }` in place of its result. @default FAIL_FAST
   */
  readonly errorStrategy?: Strategy
  /** Branches that run at the same time, at most. @default all */
  readonly concurrency?: number
}

const OWN_OPTIONS = {
  errorStrategy: true,
  concurrency: true,
} as const satisfies OptionNames<Omit<ParallelOptions, keyof CompoundSettings<unknown>>>

/** What the branches give, by their names. */
export type ParallelOutput<Tools extends Branches, Strategy extends PipelineErrorStrategy> = Flat<{
  -readonly [Name in keyof Tools]: PartOutput<OutputOf<Tools[Name]>, Strategy>
}>

/**
 * Makes a tool that gives the same input to all of `branches`, at the same time, and gives their results
 * by name: `parallel({ news: searchNews, papers: searchPapers })`.
 *
 * @throws {TypeError} naming everything that does not fit.
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
    ...(entries.length === 0 ? ['it needs at least one branch'] : []),
    ...entries.flatMap(([key, tool]) => toolProblems(tool, `branch '${key}'`)),
    ...optionProblems(options, OWN_OPTIONS),
    ...strategyProblems(errorStrategy),
    ...concurrencyProblems(concurrency),
    ...nameProblems(name, settings),
  ]
  if (first === undefined || problems.length > 0) {
    throw pipelineDefinitionError('a parallel tool', problems, settings)
  }
  const door = doorTo([first, ...others])
  return compoundTool({
    tools,
    settings,
    defaults: {
      name,
      description: `Parallel: ${entries.map(([key, tool]) => `${key} (${tool.name})`).join(', ')}`,
      timeoutMs: limitOf(tools, concurrency),
    },
    door,
    outputSchema: outputSchemaOf(entries, errorStrategy),
    async run({ value }, context) {
      const parts = entries.map(([key, tool]): FannedPart => ({
        tool,
        input: inputFor(tool, value),
        who: `Branch '${key}'`,
        step: key,
      }))
      const given = await fanOut(parts, { context, concurrency, errorStrategy })
      if (!given.ok) return ToolResult.failure(given.message)
      return valueResult(Object.fromEntries(entries.map(([key], at) => [key, given.values[at]])))
    },
  })
}

/** All at once take as long as the slowest; else, at worst, one after the other. */
function limitOf(tools: readonly AgentTool[], concurrency: number): number {
  const limits = tools.map(({ timeoutMs }) => timeoutMs)
  if (concurrency >= tools.length) return Math.max(...limits)
  return limits.reduce((sumMs, limitMs) => sumMs + limitMs, 0)
}

function outputSchemaOf(
  entries: readonly (readonly [key: string, tool: AgentTool])[],
  errorStrategy: PipelineErrorStrategy,
): TSchema {
  const properties = entries.map(([key, tool]) => {
    return [key, partSchema(tool, errorStrategy, ['properties', key])] as const
  })
  return Type.Object(Object.fromEntries(properties))
}
