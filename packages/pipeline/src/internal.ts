/** For the other packages of Tutti only: its names may change in every version. */
export type { PipelineErrorStrategy } from './error-strategy.ts'
export type { Misfit, StepResult } from './step-types.ts'
