/** For the other packages of Tutti only: its names may change in every version. */
export type { BranchWays, Predicate } from './branch.ts'
export type { ItemsFor } from './map-each.ts'
export type { Branches, ParallelOutput } from './parallel.ts'
export type { EmptyPipelineBuilder } from './pipeline-builder.ts'
export type { CompoundSettings } from './compound-tool.ts'
export type { PipelineErrorStrategy } from './error-strategy.ts'
export type { PartOutput } from './part-failure.ts'
export type {
  Adapted,
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
