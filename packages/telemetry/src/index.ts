/** OpenTelemetry traces of runs. */

// To trace
export { type RunTracing, traceRuns } from './trace-runs.ts'
export type { TraceRunsOptions } from './options.ts'

// To read spans
export { GEN_AI, TUTTI } from './attributes.ts'

// To extend
