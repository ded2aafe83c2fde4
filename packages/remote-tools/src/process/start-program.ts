/**
 * Starting a program, through execa.
 *
 * P3 A program runs in a process group of its own, and is ended with it when this process exits or is
 *    ended by a signal.
 * P4 A program that cannot be started is a value that says why.
 */
import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import process from 'node:process'

import { errorMessage } from '@tutti/core'

import { environmentOf } from './environment.ts'
import { TREE_VARIABLE } from './process-tree.ts'
import { RunningProgram } from './running-program.ts'

import type { ResolvedProgramOptions } from './options.ts'

/** A started program, or why there is none. */
export type ProgramStart =
  | { readonly ok: true; readonly program: RunningProgram }
  | { readonly ok: false; readonly message: string }

/** Starts a program; `variables` are added to its environment. */
export async function startProgram(
  options: ResolvedProgramOptions,
  variables: Readonly<Record<string, string>> = {},
): Promise<ProgramStart> {
  const { execa } = await loadExeca()
  const { command, args, cwd } = options
  const mark = randomUUID()
  const env = { ...ownEnvironment(options), ...variables, [TREE_VARIABLE]: mark }
  try {
    const started = execa(command, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env,
      extendEnv: false,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
      buffer: false,
      reject: false,
      killDescendants: true,
      // The signal that ends what runs when this process exits: there is no second chance then.
      killSignal: 'SIGKILL',
      forceKillAfterDelay: false,
      cleanup: true,
    })
    if (started.pid !== undefined) {
      const child = started.nodeChildProcess
      const signalGroup = (signal: NodeJS.Signals): void => void started.kill(signal)
      return { ok: true, program: new RunningProgram({ child, signalGroup, mark }, options) }
    }
    return failed(await startFailure(options, await started))
  } catch (error) {
    return failed(errorMessage(error))
  }
}

function failed(reason: string): ProgramStart {
  return { ok: false, message: `Failed to start process: ${reason}` }
}

let execaModule: Promise<typeof import('execa')> | undefined

/** Loaded late, since to import a tool should cost little, and asked for once. */
function loadExeca(): Promise<typeof import('execa')> {
  execaModule ??= import('execa')
  return execaModule
}

function ownEnvironment(options: ResolvedProgramOptions): Record<string, string> {
  // oxlint-disable-next-line node/no-process-env -- what programs inherit is in no other place
  const variables = process.env
  return environmentOf(options, { variables, platform: process.platform })
}

/** Why a program could not be started, in words that say what to mend. */
async function startFailure(
  { command, cwd = process.cwd() }: ResolvedProgramOptions,
  error: { readonly code?: string | undefined; readonly originalMessage?: string | undefined },
): Promise<string> {
  const { code, originalMessage = 'unknown error' } = error
  if (!(await kindOf(cwd)).isDirectory) return `there is no directory "${cwd}" to run it in`
  if (code === 'EACCES') return `"${command}" may not be executed`
  if (code !== 'ENOENT') return originalMessage
  const isScript = command.includes('/') && (await kindOf(resolve(cwd, command))).isFile
  return isScript
    ? `"${command}" names an interpreter that is not there`
    : `there is no program "${command}"`
}

async function kindOf(path: string): Promise<{ isDirectory: boolean; isFile: boolean }> {
  try {
    const stats = await stat(path)
    return { isDirectory: stats.isDirectory(), isFile: stats.isFile() }
  } catch {
    return { isDirectory: false, isFile: false }
  }
}
