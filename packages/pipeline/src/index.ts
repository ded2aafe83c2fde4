/**
 * Pipelines of tools, which a model calls as one tool.
 */

// Definitions
export { branch, type BranchWays, type Predicate } from './branch.ts'
export { mapEach, type ItemsFor, type MapEachOptions } from './map-each.ts'
export { parallel, type Branches, type ParallelOptions, type ParallelOutput } from './parallel.ts'
export {
  pipelineBuilder,
  type EmptyPipelineBuilder,
  type PipelineBuilder,
} from './pipeline-builder.ts'
export { pipeline } from './pipeline.ts'
export type { CompoundSettings } from './compound-tool.ts'
export type { PipelineErrorStrategy } from './error-strategy.ts'
export type { PipelineOptions } from './pipeline-tool.ts'

// Results
export { isPartFailure, PartFailure, type PartOutput } from './part-failure.ts'

// Types for extensions
export type {
  Adapted,
  Adapter,
  AdapterMisfit,
  Fitting,
  FittingList,
  InputOf,
  Misfit,
  OutputOf,
  SeenBy,
  SharedInput,
  SharedSeen,
  StepResult,
} from './step-types.ts'
