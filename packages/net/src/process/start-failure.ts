/** Why a program could not be started, in words that say what to mend. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import process from 'node:process'

/** What was to be started, and where. */
export interface UnstartedProgram {
  readonly command: string
  /** Undefined is the directory of this process. */
  readonly cwd: string | undefined
}

/** What the system said. */
export interface StartError {
  readonly code?: string | undefined
  readonly originalMessage?: string | undefined
}

/** The reason: the system has one word for a missing directory, program or interpreter. */
export async function startFailure(
  { command, cwd = process.cwd() }: UnstartedProgram,
  { code, originalMessage = 'unknown error' }: StartError,
): Promise<string> {
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
