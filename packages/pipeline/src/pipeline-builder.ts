/** Writing a pipeline step by step, with adapters between the steps. */
import { pipelineTool, type PipelineDefinition, type PipelineOptions } from './pipeline-tool.ts'

import type { AgentTool, TypedTool } from '@tutti/core'
import type { PipelineStep } from './run-steps.ts'
import type { Adapted, Adapter, Fitting, InputOf, OutputOf } from './step-types.ts'

/** A pipeline without steps. */
export interface EmptyPipelineBuilder {
  /** Adds the first step. */
  step<Tool extends AgentTool>(tool: Tool): PipelineBuilder<InputOf<Tool>, OutputOf<Tool>>
}

/** A pipeline with steps. Each method gives a new builder, and leaves this one as it is. */
export interface PipelineBuilder<Input, Output, Given = Output> {
  /** Adds a step. One that does not take what comes is an error of the compiler. */
  step<Tool extends AgentTool>(tool: Fitting<Given, Tool>): PipelineBuilder<Input, OutputOf<Tool>>
  /**
   * Says what the next step is given of the result of the step before. It runs when that step worked
   * and is not the last; a second adapter replaces the first.
   */
  adapter<Returned>(
    adapter: Adapter<Output, Returned>,
  ): PipelineBuilder<Input, Output, Adapted<Returned>>
  /**
   * Makes the tool.
   *
   * @throws {TypeError} naming everything that does not fit.
   */
  build(): TypedTool<Input, Output>
}

/** Begins a pipeline: `pipelineBuilder({ name: 'digest' }).step(search).adapter(…).step(write).build()`. */
export function pipelineBuilder(options: PipelineOptions = {}): EmptyPipelineBuilder {
  // NOTE: a builder with steps can do all that one without can; what it takes is not known yet.
  return builderOf({ options, steps: [] }) as EmptyPipelineBuilder
}

function builderOf<Input, Output, Given>(
  definition: PipelineDefinition<Input>,
): PipelineBuilder<Input, Output, Given> {
  const { steps, problems = [] } = definition
  return {
    // NOTE: what the compiler lets through is a tool.
    step: (tool) => builderOf({ ...definition, steps: [...steps, { tool: tool as AgentTool }] }),
    adapter(adapter) {
      const last = steps.at(-1)
      if (last === undefined || typeof adapter !== 'function') {
        const problem = last === undefined ? BEFORE_ANY_STEP : notAFunction(adapter, steps.length)
        return builderOf({ ...definition, problems: [...problems, problem] })
      }
      // NOTE: it is called with results of the tool that it was written for.
      const adapted: PipelineStep = { ...last, adapter: adapter as Adapter }
      return builderOf({ ...definition, steps: [...steps.slice(0, -1), adapted] })
    },
    build: () => pipelineTool(definition),
  }
}

const BEFORE_ANY_STEP = 'an adapter comes after a step, and there is none before it'

function notAFunction(adapter: unknown, stepNumber: number): string {
  const shown = adapter === null ? 'null' : typeof adapter
  return `the adapter after step ${stepNumber} must be a function, got ${shown}`
}
