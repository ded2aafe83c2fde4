/** The `.env` file of a project, parsed by Node. */
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadEnvFile } from 'node:process'

/** Name of the file. */
const NAME = '.env'

/** Returns the path of the file in `directory`, whether it exists or not. */
export function envFileIn(directory: string): string {
  return resolve(directory, NAME)
}

/**
 * Adds the variables of the file in `directory` to the environment of this process. Variables that are already set keep
 * their values.
 *
 * @throws {TuttiError} CONFIG_INVALID when the file exists and cannot be read.
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
