/** What the author of a process tool writes about its program, with the defaults and the checks. */
import { fileURLToPath } from 'node:url'

import {
  definitionError,
  findChoiceProblems,
  findUnknownOptions,
  systemClock,
  type Clock,
  type OptionNames,
} from '@tutti/core'

import { environmentProblems } from './environment.ts'
import {
  resolveWorkerOptions,
  workerProblems,
  type ResolvedWorkerOptions,
  type WorkerOptions,
} from './worker/options.ts'

/** The program of a tool, and how it is run. */
export interface ProgramOptions {
  /** Program to start: a name looked up in `PATH`, or a path. Never a shell command line. */
  readonly command: string
  /** Its arguments, passed on as they are. @default none */
  readonly args?: readonly string[]
  /** Directory it runs in. @default that of this process */
  readonly cwd?: string | URL
  /** Environment variables, besides the few that programs need to start. @default none */
  readonly env?: Readonly<Record<string, string>>
  /**
   * Variables of this process that are passed on: these names, or all with `true`. Everything else,
   * and so any secret, is kept back. @default none
   */
  readonly inheritEnv?: readonly string[] | true
  /** Bytes kept of stdout and of stderr, each; what comes after is dropped, and said so. @default 1048576 */
  readonly maxOutputBytes?: number
  /**
   * Time between SIGTERM and SIGKILL for a program that is to end, in milliseconds, from 0 (SIGKILL at
   * once) to 4000. @default 1000
   */
  readonly killGraceMs?: number
  /** `once` starts the program for each call; `worker` keeps programs that answer many. @default once */
  readonly mode?: 'once' | 'worker'
  /** The pool of programs; only with mode `worker`. */
  readonly worker?: WorkerOptions
  /** @default the system's clock */
  readonly clock?: Clock
}

/** The options of the program of a tool. */
export const PROGRAM_OPTION_NAMES = {
  command: true,
  args: true,
  cwd: true,
  env: true,
  inheritEnv: true,
  maxOutputBytes: true,
  killGraceMs: true,
  mode: true,
  worker: true,
  clock: true,
} as const satisfies OptionNames<ProgramOptions>

/** {@link ProgramOptions} with every default filled in. */
export interface ResolvedProgramOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string | undefined
  readonly env: Readonly<Record<string, string>>
  readonly inheritEnv: readonly string[] | true
  readonly maxOutputBytes: number
  readonly killGraceMs: number
  /** Present exactly with mode `worker`. */
  readonly worker: ResolvedWorkerOptions | undefined
  readonly clock: Clock
  /** Whether the tool declares the schema of its output, so that values matter beside their text. */
  readonly declaresOutput: boolean
}

/** What of the definition of a tool matters to its program. */
export interface ToolOfProgram extends ProgramOptions {
  readonly name: string
  readonly output?: unknown
}

/** The reference's bound: long for a model, small for a machine. */
const DEFAULT_MAX_OUTPUT_BYTES = 1_048_576

/** Enough to remove temporary files; a person who cancels does not notice it. */
const DEFAULT_KILL_GRACE_MS = 1_000

/** With the time that a killed program may take to be gone, below the `CANCEL_GRACE_MS` of core. */
const LONGEST_KILL_GRACE_MS = 4_000

/**
 * Fills in the defaults.
 *
 * @throws {TypeError} naming every option that does not fit.
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
    ...commandProblems(options),
    ...environmentProblems(options),
    ...limitProblems(options),
    ...modeProblems(options),
  ]
  if (problems.length > 0) {
    const shown = JSON.stringify(options.name)
    throw definitionError(`Cannot define process tool ${shown}: ${problems.join('; ')}`)
  }
  const { cwd, clock = systemClock, mode = 'once' } = options
  return {
    command: options.command,
    args: [...(options.args ?? [])],
    cwd: cwd instanceof URL ? fileURLToPath(cwd) : cwd,
    env: { ...options.env },
    inheritEnv: options.inheritEnv ?? [],
    maxOutputBytes: options.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES,
    killGraceMs: options.killGraceMs ?? DEFAULT_KILL_GRACE_MS,
    worker: mode === 'worker' ? resolveWorkerOptions(options.worker) : undefined,
    clock,
    declaresOutput: options.output !== undefined,
  }
}

function commandProblems({ command, args = [], cwd = '.' }: ProgramOptions): readonly string[] {
  const problems: string[] = []
  if (!isWord(command) || command.trim() === '') {
    problems.push(`command must name a program, got ${shown(command)}`)
  }
  const bad = Array.isArray(args) ? args.filter((arg) => !isWord(arg)) : [args]
  if (bad.length > 0) {
    problems.push(`args must be texts without NUL characters, got ${bad.map(shown).join(', ')}`)
  }
  const isDirectory = cwd instanceof URL ? cwd.protocol === 'file:' : isWord(cwd) && cwd !== ''
  if (!isDirectory) problems.push(`cwd must be a path or a file: URL, got ${shown(cwd)}`)
  return problems
}

function limitProblems({ maxOutputBytes = 1, killGraceMs = 0 }: ProgramOptions): readonly string[] {
  const problems: string[] = []
  if (!Number.isInteger(maxOutputBytes) || maxOutputBytes < 1) {
    problems.push(`maxOutputBytes must be an integer >= 1, got ${shown(maxOutputBytes)}`)
  }
  if (!(killGraceMs >= 0 && killGraceMs <= LONGEST_KILL_GRACE_MS)) {
    problems.push(
      `killGraceMs must be from 0 to ${LONGEST_KILL_GRACE_MS}, got ${shown(killGraceMs)}`,
    )
  }
  return problems
}

function modeProblems({ mode = 'once', worker }: ProgramOptions): readonly string[] {
  const wrong = findChoiceProblems('mode', mode, ['once', 'worker'])
  if (wrong.length > 0) return wrong
  if (worker === undefined) return []
  if (mode === 'once') return ['worker goes with mode "worker" only']
  return workerProblems(worker)
}

/** Whether the system takes the value as a word of a command line. */
function isWord(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0')
}

function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value))
}
