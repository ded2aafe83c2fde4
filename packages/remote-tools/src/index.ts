/** Tools that live elsewhere. Programs: `processTool`. */

// Programs
export type { ProgramOptions } from './process/options.ts'
export {
  processTool,
  type ProcessTool,
  type TextProcessToolOptions,
  type TypedProcessToolOptions,
} from './process/process-tool.ts'
export type { WorkerOptions } from './process/worker/options.ts'
