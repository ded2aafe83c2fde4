/** Options of child processes, with their defaults and checks. */
import { fileURLToPath } from 'node:url'

import { systemClock, type Clock } from '@tutti/core'
import type { OptionNames } from '@tutti/core/internal'

import { findEnvironmentProblems } from './environment.ts'

/** Options of a child process: its command line, environment and termination. */
export interface ProcessOptions {
  /** Program to start: a name looked up in `PATH`, or a path. Never a shell command line. */
  readonly command: string
  /** Arguments, passed unchanged. @default none */
  readonly args?: readonly string[]
  /** Working directory. @default that of this process */
  readonly cwd?: string | URL
  /** Environment variables, in addition to the few that programs need to start. @default none */
  readonly env?: Readonly<Record<string, string>>
  /**
   * Names of variables of this process that are passed on; `true` passes all of them on. The others, and so any
   * secrets, are withheld. @default none
   */
  readonly inheritEnv?: readonly string[] | true
  /**
   * Time between SIGTERM and SIGKILL when the process is stopped, in milliseconds, from 0 (SIGKILL immediately) to
   * 4000. @default 1000
   */
  readonly killGraceMs?: number
  /** @default the system's clock */
  readonly clock?: Clock
}

/** Names of the {@link ProcessOptions}. */
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

/** Long enough to remove temporary files, and short for a person who cancels. */
const DEFAULT_KILL_GRACE_MS = 1_000

/** Leaves a killed process time to end within the `CANCEL_GRACE_MS` of core. */
const MAX_KILL_GRACE_MS = 4_000

/** Fills in the defaults of valid options. */
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
  return [
    ...findCommandProblems(options),
    ...findEnvironmentProblems(options),
    ...findGraceProblems(options),
  ]
}

function findCommandProblems({ command, args = [], cwd = '.' }: ProcessOptions): readonly string[] {
  const problems: string[] = []
  if (!isArgument(command) || command.trim() === '') {
    problems.push(`command must name a program, got ${quote(command)}`)
  }
  const bad = Array.isArray(args) ? args.filter((arg) => !isArgument(arg)) : [args]
  if (bad.length > 0) {
    problems.push(`args must be strings without NUL characters, got ${bad.map(quote).join(', ')}`)
  }
  const isDirectory = cwd instanceof URL ? cwd.protocol === 'file:' : isArgument(cwd) && cwd !== ''
  if (!isDirectory) problems.push(`cwd must be a path or a file: URL, got ${quote(cwd)}`)
  return problems
}

function findGraceProblems({ killGraceMs = 0 }: ProcessOptions): readonly string[] {
  if (killGraceMs >= 0 && killGraceMs <= MAX_KILL_GRACE_MS) return []
  return [`killGraceMs must be from 0 to ${MAX_KILL_GRACE_MS}, got ${quote(killGraceMs)}`]
}

/** Returns whether the system accepts the value as an argument of a command line. */
function isArgument(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0')
}

function quote(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value))
}
