/** The `.env` of a project, read by Node. */
import { errorMessage, TuttiError } from '@tutti/core'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadEnvFile } from 'node:process'

/** Name of the file. */
const NAME = '.env'

/** The path of the file in `directory`, whether it is there or not. */
export function envFileIn(directory: string): string {
  return resolve(directory, NAME)
}

/**
 * Adds what the file in `directory` sets to the environment of this process. What is set already stays.
 *
 * @throws {TuttiError} CONFIG_INVALID when it is there and cannot be read.
 */
export function loadProjectEnvFile(directory: string): void {
  const path = envFileIn(directory)
  if (!existsSync(path)) return
  try {
    loadEnvFile(path)
  } catch (error) {
    throw new TuttiError('CONFIG_INVALID', `Cannot read "${path}": ${errorMessage(error)}`, {
      cause: error,
    })
  }
}
