/** Explains failed starts of child processes. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import process from 'node:process'

/** The command line that failed to start. */
export interface UnstartedProcess {
  readonly command: string
  /** @default the working directory of this process */
  readonly cwd: string | undefined
}

/** The error of the system. */
export interface StartError {
  readonly code?: string | undefined
  readonly originalMessage?: string | undefined
}

/** Returns the reason. The system reports ENOENT for a missing directory, program or interpreter. */
export async function explainStartFailure(
  { command, cwd = process.cwd() }: UnstartedProcess,
  { code, originalMessage = 'unknown error' }: StartError,
): Promise<string> {
  if (!(await statPath(cwd)).isDirectory) return `working directory "${cwd}" does not exist`
  if (code === 'EACCES') return `"${command}" is not executable`
  if (code !== 'ENOENT') return originalMessage
  const isScript = command.includes('/') && (await statPath(resolve(cwd, command))).isFile
  return isScript
    ? `the interpreter of "${command}" does not exist`
    : `program "${command}" not found`
}

async function statPath(path: string): Promise<{ isDirectory: boolean; isFile: boolean }> {
  try {
    const stats = await stat(path)
    return { isDirectory: stats.isDirectory(), isFile: stats.isFile() }
  } catch {
    return { isDirectory: false, isFile: false }
  }
}
