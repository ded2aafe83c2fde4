/** Options of child processes, with their defaults and checks. */
import { fileURLToPath } from 'node:url'

import { systemClock, type Clock, type OptionNames } from '@tutti/core'

import { environmentProblems } from './environment.ts'

/** A child process: its command line, its environment and its end. */
export interface ProcessOptions {
  /** Program to start: a name looked up in `PATH`, or a path. Never a shell command line. */
  readonly command: string
  /** Its arguments, passed unchanged. @default none */
  readonly args?: readonly string[]
  /** Working directory. @default that of this process */
  readonly cwd?: string | URL
  /** Environment variables, in addition to the few that programs need to start. @default none */
  readonly env?: Readonly<Record<string, string>>
  /**
   * Variables of this process that are passed on: these names, or all with `true`. All others, and so any secret,
   * are withheld. @default none
   */
  readonly inheritEnv?: readonly string[] | true
  /**
   * Time between SIGTERM and SIGKILL when the process must end, in milliseconds, from 0 (SIGKILL at once) to 4000.
   * @default 1000
   */
  readonly killGraceMs?: number
  /** @default the system's clock */
  readonly clock?: Clock
}

/** Names of {@link ProcessOptions}. */
export const PROCESS_OPTION_NAMES = {
  command: true,
  args: true,
  cwd: true,
  env: true,
  inheritEnv: true,
  killGraceMs: true,
  clock: true,
} as const satisfies OptionNames<ProcessOptions>

/** {@link ProcessOptions} with their defaults. */
export interface ResolvedProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string | undefined
  readonly env: Readonly<Record<string, string>>
  readonly inheritEnv: readonly string[] | true
  readonly killGraceMs: number
  readonly clock: Clock
}

/** Enough to remove temporary files, and short for a person who cancels. */
const DEFAULT_KILL_GRACE_MS = 1_000

/** With the time that a killed process needs to end, below the `CANCEL_GRACE_MS` of core. */
const MAX_KILL_GRACE_MS = 4_000

/** Fills in the defaults of options that were checked. */
export function resolveProcessOptions(options: ProcessOptions): ResolvedProcessOptions {
  const { command, args = [], cwd, env = {}, inheritEnv = [], clock = systemClock } = options
  const { killGraceMs = DEFAULT_KILL_GRACE_MS } = options
  return {
    command,
    args: [...args],
    cwd: cwd instanceof URL ? fileURLToPath(cwd) : cwd,
    env: { ...env },
    inheritEnv,
    killGraceMs,
    clock,
  }
}

/** Returns every problem of the options. */
export function findProcessProblems(options: ProcessOptions): readonly string[] {
  return [...commandProblems(options), ...environmentProblems(options), ...graceProblems(options)]
}

function commandProblems({ command, args = [], cwd = '.' }: ProcessOptions): readonly string[] {
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

function graceProblems({ killGraceMs = 0 }: ProcessOptions): readonly string[] {
  if (killGraceMs >= 0 && killGraceMs <= MAX_KILL_GRACE_MS) return []
  return [`killGraceMs must be from 0 to ${MAX_KILL_GRACE_MS}, got ${shown(killGraceMs)}`]
}

/** Whether the system accepts the value as a word of a command line. */
function isWord(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0')
}

function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value))
}
