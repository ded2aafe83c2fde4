/** What is going to be created: options with their defaults, checked. */
import { basename, relative, resolve } from 'node:path'

import { CreateError, EXIT } from './create-error.ts'
import { callingPackageManager, type PackageManager } from './package-manager.ts'
import { nameProblem, toProjectName } from './project-name.ts'
import { entriesOf, folderProblem } from './target-folder.ts'

import type { ProjectOptions } from './arguments.ts'
import type { CreateIo } from './create-io.ts'

/** The folder of a project when the command line names none. */
export const DEFAULT_FOLDER = 'support-desk'

/** A project that can be created. */
export interface ProjectPlan {
  /** Its path, from the root of the file system on. */
  readonly folder: string
  readonly name: string
  readonly packageManager: PackageManager
  readonly install: boolean
  readonly git: boolean
}

/**
 * Fills in the defaults and checks everything that can be checked before anything is written.
 *
 * @throws {CreateError} naming what does not fit and what to do.
 */
export function planOf(options: ProjectOptions, { cwd, variables }: CreateIo): ProjectPlan {
  const { install, git } = options
  const folder = resolve(cwd, options.folder ?? DEFAULT_FOLDER)
  const name = options.name ?? nameOf(folder)
  const problem = nameProblem(name)
  if (problem !== undefined) {
    const near = toProjectName(name)
    const advice = near === '' ? '' : `, such as --name ${near}`
    throw new CreateError(EXIT.usage, `"${name}" ${problem}. Say --name${advice}`)
  }
  const unusable = folderProblem(folder, cwd)
  if (unusable !== undefined) throw new CreateError(EXIT.failed, unusable)
  const entries = entriesOf(folder)
  if (entries.length > 0 && !options.force) {
    throw new CreateError(
      EXIT.failed,
      `"${relative(cwd, folder) || '.'}" is not empty: ${someOf(entries)}. ` +
        'Choose another folder, or say --force to write into it, over files of the same names',
    )
  }
  const packageManager = options.packageManager ?? callingPackageManager(variables)
  return { folder, name, packageManager, install, git }
}

/** The name that a project has by its folder. */
export function nameOf(folder: string): string {
  return toProjectName(basename(folder)) || basename(folder)
}

const SHOWN = 4

/** A list for people, not longer than a line. */
export function someOf(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).join(', ')
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown
}
