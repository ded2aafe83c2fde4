/** A pipeline as a tool: what it is by default, and what it takes and gives. */
import { compoundTool, type CompoundSettings } from './compound-tool.ts'
import {
  pipelineDefinitionError,
  nameProblems,
  optionProblems,
  toolSettings,
} from './definition-error.ts'
import { doorTo } from './door.ts'
import { strategyProblems, type PipelineErrorStrategy } from './error-strategy.ts'
import { isTool, toolProblems } from './is-tool.ts'
import { runSteps, type PipelineStep } from './run-steps.ts'

import type { OptionNames, TypedTool } from '@tutti/core'

/** What the author of a pipeline may set. */
export interface PipelineOptions<Input = unknown> extends CompoundSettings<Input> {
  /** What the failure of a step means for the rest. @default FAIL_FAST */
  readonly errorStrategy?: PipelineErrorStrategy
}

const OWN_OPTIONS = { errorStrategy: true } as const satisfies OptionNames<
  Omit<PipelineOptions, keyof CompoundSettings<unknown>>
>

/** A pipeline as it was written, before anything of it was checked. */
export interface PipelineDefinition<Input> {
  readonly steps: readonly PipelineStep[]
  readonly options: PipelineOptions<Input>
  /** What was found to be wrong while it was written. */
  readonly problems?: readonly string[]
}

/**
 * Makes the tool; its types are for the caller to say.
 *
 * @throws {TypeError} naming everything that does not fit.
 */
export function pipelineTool<Input, Output>({
  steps,
  options,
  problems = [],
}: PipelineDefinition<Input>): TypedTool<Input, Output> {
  const { errorStrategy = 'FAIL_FAST' } = options
  const settings = toolSettings(options)
  const tools = steps.map(({ tool }) => tool).filter(isTool)
  const names = tools.map(({ name }) => name)
  const name = names.join('_then_')
  const [first, last = first] = [tools[0], tools.at(-1)]
  const found = [
    ...(steps.length === 0 ? ['it needs at least one step'] : []),
    ...steps.flatMap(({ tool }, index) => toolProblems(tool, `step ${index + 1}`)),
    ...problems,
    ...optionProblems(options, OWN_OPTIONS),
    ...strategyProblems(errorStrategy),
    ...nameProblems(name, settings),
  ]
  if (first === undefined || last === undefined || found.length > 0) {
    throw pipelineDefinitionError('a pipeline', found, settings)
  }
  const leading = steps.slice(0, -1)
  return compoundTool({
    tools,
    settings,
    defaults: {
      name,
      description: `Pipeline: ${names.join(' -> ')}`,
      timeoutMs: tools.reduce((sumMs, { timeoutMs }) => sumMs + timeoutMs, 0),
    },
    door: doorTo([first]),
    ...(last.outputSchema === undefined ? {} : { outputSchema: last.outputSchema }),
    run: ({ value }, context) => runSteps({ leading, last, errorStrategy }, value, context),
  })
}
