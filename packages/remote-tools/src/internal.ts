/** For the other packages of Tutti only: its names may change in every version. */
export type { ProgramOptions } from './process/options.ts'
export type { WorkerOptions } from './process/worker-options.ts'
