/** For the other packages of Tutti only: its names may change in every version. */
export type { TracedServiceOptions } from './trace-runs.ts'
export { providerName } from './options.ts'
export type { RunActivityLike } from './followed-runs.ts'
