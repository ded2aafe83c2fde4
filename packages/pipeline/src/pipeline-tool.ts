/** Creates the tool of a pipeline, with its defaults and schemas. */
import { compoundTool, type CompoundSettings } from './compound-tool.ts'
import {
  pipelineDefinitionError,
  findNameProblems,
  findToolOptionProblems,
  toolSettings,
} from './definition-error.ts'
import { createCompoundReader } from './input-reader.ts'
import { findStrategyProblems, type PipelineErrorStrategy } from './error-strategy.ts'
import { isTool, findToolProblems } from './is-tool.ts'
import { runSteps, type PipelineStep } from './run-steps.ts'

import type { TypedTool } from '@tutti/core'
import type { OptionNames } from '@tutti/core/internal'

/** Name, description and limits of the tool that a pipeline is, and what a failed step does. */
export interface PipelineOptions<Input = unknown> extends CompoundSettings<Input> {
  /** Strategy for the failure of a step. @default FAIL_FAST */
  readonly errorStrategy?: PipelineErrorStrategy
}

const OWN_OPTIONS = { errorStrategy: true } as const satisfies OptionNames<
  Omit<PipelineOptions, keyof CompoundSettings<unknown>>
>

/** Unchecked definition of a pipeline. */
export interface PipelineDefinition<Seen> {
  readonly steps: readonly PipelineStep[]
  readonly options: PipelineOptions<Seen>
  /** Problems that the builder has found. */
  readonly problems?: readonly string[]
}

/**
 * Creates the tool. The caller defines its input and output types.
 *
 * @throws {TypeError} naming every problem of the definition.
 */
export function pipelineTool<Seen, Input, Output>({
  steps,
  options,
  problems = [],
}: PipelineDefinition<Seen>): TypedTool<Input, Output> {
  const { errorStrategy = 'FAIL_FAST' } = options
  const settings = toolSettings(options)
  const tools = steps.map(({ tool }) => tool).filter(isTool)
  const names = tools.map(({ name }) => name)
  const name = names.join('_then_')
  const [first, last = first] = [tools[0], tools.at(-1)]
  const found = [
    ...(steps.length === 0 ? ['at least one step is required'] : []),
    ...steps.flatMap(({ tool }, index) => findToolProblems(tool, `step ${index + 1}`)),
    ...problems,
    ...findToolOptionProblems(options, OWN_OPTIONS),
    ...findStrategyProblems(errorStrategy),
    ...findNameProblems(name, settings),
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
    reader: createCompoundReader([first]),
    ...(last.outputSchema === undefined ? {} : { outputSchema: last.outputSchema }),
    run: ({ value }, context) => runSteps({ leading, last, errorStrategy }, value, context),
  })
}
