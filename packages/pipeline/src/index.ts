/**
 * Pipelines of tools, which a model calls as one tool.
 */

// Definitions
export { branch } from './branch.ts'
export { mapEach, type MapEachOptions } from './map-each.ts'
export { parallel, type ParallelOptions } from './parallel.ts'
export { pipelineBuilder, type PipelineBuilder } from './pipeline-builder.ts'
export { pipeline } from './pipeline.ts'
export type { PipelineOptions } from './pipeline-tool.ts'

// Results
export { isPartFailure, PartFailure } from './part-failure.ts'

// Types for extensions
export type { Adapter } from './step-types.ts'
