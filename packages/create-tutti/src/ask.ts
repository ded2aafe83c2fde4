/** Asks on the terminal for options that the command line does not set. */
import { relative, resolve } from 'node:path'

import { confirm, isCancel, select, text } from '@clack/prompts'

import { detectPackageManager, PACKAGE_MANAGERS } from './package-manager.ts'
import { DEFAULT_FOLDER, toDefaultName, summarizeNames } from './plan.ts'
import { findNameProblem } from './project-name.ts'
import { listEntries, findTargetProblem } from './target-folder.ts'

import type { ProjectOptions } from './arguments.ts'
import type { CreateIo } from './create-io.ts'

/** Returns the options with the answers; undefined when the user cancels. */
export async function ask(
  options: ProjectOptions,
  io: CreateIo,
): Promise<ProjectOptions | undefined> {
  const streams = { input: io.stdin, output: io.stdout }
  const folder =
    options.folder ??
    (await text({
      ...streams,
      message: 'Where should the project go?',
      placeholder: DEFAULT_FOLDER,
      defaultValue: DEFAULT_FOLDER,
      validate: (answer) => findFolderProblem(answer || DEFAULT_FOLDER, options, io),
    }))
  if (isCancel(folder)) return undefined
  const force = options.force || (await mayWriteInto(resolve(io.cwd, folder), io))
  if (!force) return undefined
  const packageManager =
    options.packageManager ??
    (await select({
      ...streams,
      message: 'Which package manager do you use?',
      options: PACKAGE_MANAGERS.map((value) => ({ value, label: value })),
      initialValue: detectPackageManager(io.variables),
    }))
  if (isCancel(packageManager)) return undefined
  return { ...options, folder, force, packageManager }
}

/** Returns the problem of an answer, so that the prompt can ask again. */
function findFolderProblem(
  folder: string,
  { name }: ProjectOptions,
  { cwd }: CreateIo,
): string | undefined {
  const path = resolve(cwd, folder)
  const projectName = name ?? toDefaultName(path)
  const problem = findNameProblem(projectName)
  return problem === undefined ? findTargetProblem(path, cwd) : `"${projectName}" ${problem}`
}

/** Returns whether to write into the folder: it is empty, or the user agrees to overwrite files. */
async function mayWriteInto(folder: string, { cwd, stdin, stdout }: CreateIo): Promise<boolean> {
  // A path that cannot be a folder is reported when the project is planned.
  if (findTargetProblem(folder, cwd) !== undefined) return true
  const entries = listEntries(folder)
  if (entries.length === 0) return true
  const answer = await confirm({
    input: stdin,
    output: stdout,
    message: `"${relative(cwd, folder) || '.'}" is not empty (${summarizeNames(entries)}). Write into it, and overwrite files?`,
    initialValue: false,
  })
  return answer === true
}
