/** OpenTelemetry traces of runs. */

// To trace
export {
  traceRuns,
  type RunTracing,
  type TracedRunOptions,
  type TracedServiceOptions,
  type TraceRunOptions,
} from './trace-runs.ts'
export { providerName, type ModelNames, type TraceRunsOptions } from './options.ts'

// To read spans
export { GEN_AI, INSTRUMENTATION, OPERATION, TUTTI } from './attributes.ts'

// To extend
export type { ReadEvents } from './followed-run.ts'
export type { RunActivityLike } from './followed-runs.ts'
