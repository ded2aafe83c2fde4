/** Options of process tools, with their defaults and checks. */
import {
  definitionError,
  findChoiceProblems,
  findUnknownOptions,
  type OptionNames,
} from '@tutti/core'
import {
  findProcessProblems,
  PROCESS_OPTION_NAMES,
  resolveProcessOptions,
  type ProcessOptions,
  type ResolvedProcessOptions,
} from '@tutti/net'

import {
  resolveWorkerOptions,
  workerProblems,
  type ResolvedWorkerOptions,
  type WorkerOptions,
} from './worker/options.ts'

/** The program of a tool, and how it is run. */
export interface ProgramOptions extends ProcessOptions {
  /** Bytes of stdout and of stderr that are kept in memory, each; the rest is dropped, and noted. @default 1048576 */
  readonly maxOutputBytes?: number
  /** `once` starts the program for each call; `worker` keeps programs that answer many. @default once */
  readonly mode?: 'once' | 'worker'
  /** The pool of programs; only with mode `worker`. */
  readonly worker?: WorkerOptions
}

/** The options of the program of a tool. */
export const PROGRAM_OPTION_NAMES = {
  ...PROCESS_OPTION_NAMES,
  maxOutputBytes: true,
  mode: true,
  worker: true,
} as const satisfies OptionNames<ProgramOptions>

/** {@link ProgramOptions} with every default filled in. */
export interface ResolvedProgramOptions extends ResolvedProcessOptions {
  readonly maxOutputBytes: number
  /** Present exactly with mode `worker`. */
  readonly worker: ResolvedWorkerOptions | undefined
  /** Whether the tool declares the schema of its output, so that values matter in addition to their text. */
  readonly declaresOutput: boolean
}

/** The part of a tool's definition that concerns its program. */
export interface ToolOfProgram extends ProgramOptions {
  readonly name: string
  readonly output?: unknown
}

/** The bound of the reference: long for a model, small for a machine. */
const DEFAULT_MAX_OUTPUT_BYTES = 1_048_576

/**
 * Fills in the defaults.
 *
 * @throws {TypeError} naming every invalid option.
 */
export function resolveProgramOptions(
  options: ToolOfProgram,
  optionNames: Readonly<Record<string, true>> = {
    ...PROGRAM_OPTION_NAMES,
    name: true,
    output: true,
  },
): ResolvedProgramOptions {
  const problems = [
    ...findUnknownOptions(options, optionNames),
    ...findProcessProblems(options),
    ...outputProblems(options),
    ...modeProblems(options),
  ]
  if (problems.length > 0) {
    const name = JSON.stringify(options.name)
    throw definitionError(`Cannot define process tool ${name}: ${problems.join('; ')}`)
  }
  const { mode = 'once' } = options
  return {
    ...resolveProcessOptions(options),
    maxOutputBytes: options.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES,
    worker: mode === 'worker' ? resolveWorkerOptions(options.worker) : undefined,
    declaresOutput: options.output !== undefined,
  }
}

function outputProblems({ maxOutputBytes = 1 }: ProgramOptions): readonly string[] {
  if (Number.isInteger(maxOutputBytes) && maxOutputBytes >= 1) return []
  return [`maxOutputBytes must be an integer >= 1, got ${JSON.stringify(maxOutputBytes)}`]
}

function modeProblems({ mode = 'once', worker }: ProgramOptions): readonly string[] {
  const wrong = findChoiceProblems('mode', mode, ['once', 'worker'])
  if (wrong.length > 0) return wrong
  if (worker === undefined) return []
  if (mode === 'once') return ['worker goes with mode "worker" only']
  return workerProblems(worker)
}
