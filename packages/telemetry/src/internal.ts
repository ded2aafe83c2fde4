/** For the other packages of Tutti only: its names may change in every version. */
export type { TracedRunOptions, TracedServiceOptions, TraceRunOptions } from './trace-runs.ts'
export { type ModelNames, providerName } from './options.ts'
export { INSTRUMENTATION, OPERATION } from './attributes.ts'
export type { ReadEvents } from './followed-run.ts'
export type { RunActivityLike } from './followed-runs.ts'
