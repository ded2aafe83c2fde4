/** Builds a pipeline step by step, with adapters between the steps. */
import { findFunctionProblems } from './definition-error.ts'
import { pipelineTool, type PipelineDefinition, type PipelineOptions } from './pipeline-tool.ts'

import type { AgentTool, TypedTool } from '@tutti/core'
import type { PipelineStep } from './run-steps.ts'
import type { Adapted, Adapter, Fitting, InputOf, OutputOf } from './step-types.ts'

/** A pipeline without steps. */
export interface EmptyPipelineBuilder {
  /** Adds the first step. */
  step<Tool extends AgentTool>(tool: Tool): PipelineBuilder<InputOf<Tool>, OutputOf<Tool>>
}

/** A pipeline with steps. Each method returns a new builder and does not change this one. */
export interface PipelineBuilder<Input, Output, Given = Output> {
  /** Adds a step. A step that does not accept the previous output is a compile error. */
  step<Tool extends AgentTool>(tool: Fitting<Given, Tool>): PipelineBuilder<Input, OutputOf<Tool>>
  /**
   * Adds a function that converts the previous step's result to the next step's input. It runs when that step
   * has succeeded and is not the last; a second adapter replaces the first.
   */
  adapter<Returned>(
    adapter: Adapter<Output, Returned>,
  ): PipelineBuilder<Input, Output, Adapted<Returned>>
  /**
   * Creates the tool.
   *
   * @throws {TypeError} naming every problem of the definition.
   */
  build(): TypedTool<Input, Output>
}

/** Starts a pipeline: `pipelineBuilder({ name: 'digest' }).step(search).adapter(…).step(write).build()`. */
export function pipelineBuilder(options: PipelineOptions = {}): EmptyPipelineBuilder {
  // NOTE: a builder with steps has all methods of one without; the input type is not known yet.
  return createBuilder({ options, steps: [] }) as EmptyPipelineBuilder
}

function createBuilder<Input, Output, Given>(
  definition: PipelineDefinition<Input>,
): PipelineBuilder<Input, Output, Given> {
  const { steps, problems = [] } = definition
  return {
    // NOTE: the compiler accepts only tools.
    step: (tool) =>
      createBuilder({ ...definition, steps: [...steps, { tool: tool as AgentTool }] }),
    adapter(adapter) {
      const last = steps.at(-1)
      const found =
        last === undefined
          ? ['an adapter must follow a step']
          : findFunctionProblems(adapter, `the adapter after step ${steps.length}`)
      if (last === undefined || found.length > 0) {
        return createBuilder({ ...definition, problems: [...problems, ...found] })
      }
      // NOTE: the adapter is called with results of the tool that it was written for.
      const adapted: PipelineStep = { ...last, adapter: adapter as Adapter }
      return createBuilder({ ...definition, steps: [...steps.slice(0, -1), adapted] })
    },
    build: () => pipelineTool(definition),
  }
}
