/** Options of process tools, with their defaults and checks. */
import {
  definitionError,
  findChoiceProblems,
  findOptionProblems,
  type OptionNames,
} from '@tutti/core/internal'
import {
  findProcessProblems,
  PROCESS_OPTION_NAMES,
  resolveProcessOptions,
  type ProcessOptions,
  type ResolvedProcessOptions,
} from '@tutti/net/internal'

import {
  resolveWorkerOptions,
  findWorkerProblems,
  type ResolvedWorkerOptions,
  type WorkerOptions,
} from './worker-options.ts'

/** Options of the child processes of a tool. */
export interface ProgramOptions extends ProcessOptions {
  /** Maximum number of bytes of stdout and of stderr to retain, each; the rest is dropped with a note. @default 1048576 */
  readonly maxOutputBytes?: number
  /** `once` starts the program for each call; `worker` keeps programs running for many calls. @default once */
  readonly mode?: 'once' | 'worker'
  /** Options of the pool of programs; only with mode `worker`. */
  readonly worker?: WorkerOptions
}

/** Names of the {@link ProgramOptions}. */
export const PROGRAM_OPTION_NAMES = {
  ...PROCESS_OPTION_NAMES,
  maxOutputBytes: true,
  mode: true,
  worker: true,
} as const satisfies OptionNames<ProgramOptions>

/** {@link ProgramOptions} with their defaults. */
export interface ResolvedProgramOptions extends ResolvedProcessOptions {
  readonly maxOutputBytes: number
  /** Defined only with mode `worker`. */
  readonly worker: ResolvedWorkerOptions | undefined
  /** Whether the tool declares the schema of its output and so needs values in addition to text. */
  readonly declaresOutput: boolean
}

/** The part of a tool's definition that concerns its program. */
export interface ToolOfProgram extends ProgramOptions {
  readonly name: string
  readonly output?: unknown
}

/** In bytes: long for a model, small for a machine. */
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
    ...findOptionProblems(options, optionNames),
    ...findProcessProblems(options),
    ...findOutputProblems(options),
    ...findModeProblems(options),
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

function findOutputProblems({ maxOutputBytes = 1 }: ProgramOptions): readonly string[] {
  if (Number.isInteger(maxOutputBytes) && maxOutputBytes >= 1) return []
  return [`maxOutputBytes must be an integer >= 1, got ${JSON.stringify(maxOutputBytes)}`]
}

function findModeProblems({ mode = 'once', worker }: ProgramOptions): readonly string[] {
  const wrong = findChoiceProblems('mode', mode, ['once', 'worker'])
  if (wrong.length > 0) return wrong
  if (worker === undefined) return []
  if (mode === 'once') return ['worker requires mode "worker"']
  return findWorkerProblems(worker)
}
