/** Plans a project: adds the defaults to the options, and checks them. */
import { basename, relative, resolve } from 'node:path'

import { CreateError, EXIT } from './create-error.ts'
import { detectPackageManager, type PackageManager } from './package-manager.ts'
import { findNameProblem, toProjectName } from './project-name.ts'
import { listEntries, findTargetProblem } from './target-folder.ts'

import type { ProjectOptions } from './arguments.ts'
import type { CreateIo } from './create-io.ts'

/** Default folder of a project. */
export const DEFAULT_FOLDER = 'support-desk'

/** A project that can be created. */
export interface ProjectPlan {
  /** Absolute path of the project. */
  readonly folder: string
  readonly name: string
  readonly packageManager: PackageManager
  readonly install: boolean
  readonly git: boolean
}

/**
 * Adds the defaults, and checks everything that can be checked before files are written.
 *
 * @throws {CreateError} naming the problem and a solution.
 */
export function planProject(options: ProjectOptions, { cwd, variables }: CreateIo): ProjectPlan {
  const { install, git } = options
  const folder = resolve(cwd, options.folder ?? DEFAULT_FOLDER)
  const name = options.name ?? toDefaultName(folder)
  const problem = findNameProblem(name)
  if (problem !== undefined) {
    const near = toProjectName(name)
    const advice = near === '' ? '' : `, such as --name ${near}`
    throw new CreateError(EXIT.usage, `"${name}" ${problem}. Set --name${advice}`)
  }
  const unusable = findTargetProblem(folder, cwd)
  if (unusable !== undefined) throw new CreateError(EXIT.failed, unusable)
  const entries = listEntries(folder)
  if (entries.length > 0 && !options.force) {
    throw new CreateError(
      EXIT.failed,
      `"${relative(cwd, folder) || '.'}" is not empty: ${summarizeNames(entries)}. ` +
        'Choose another folder, or use --force to write into it and overwrite files',
    )
  }
  const packageManager = options.packageManager ?? detectPackageManager(variables)
  return { folder, name, packageManager, install, git }
}

/** Returns the default name of a project, from its folder. */
export function toDefaultName(folder: string): string {
  return toProjectName(basename(folder)) || basename(folder)
}

/** Maximum number of listed names. */
const SHOWN = 4

/** Lists the first names, and counts the others. */
export function summarizeNames(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).join(', ')
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown
}
