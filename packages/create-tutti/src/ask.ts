/** Asks a person at a terminal for what the command line left out. */
import { relative, resolve } from 'node:path'

import { confirm, isCancel, select, text } from '@clack/prompts'

import { callingPackageManager, PACKAGE_MANAGERS } from './package-manager.ts'
import { DEFAULT_FOLDER, nameOf, someOf } from './plan.ts'
import { nameProblem } from './project-name.ts'
import { entriesOf, folderProblem } from './target-folder.ts'

import type { ProjectOptions } from './arguments.ts'
import type { CreateIo } from './create-io.ts'

/** `options` with the answers; undefined when the person wants nothing to be created. */
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
      validate: (answer) => problemOf(answer || DEFAULT_FOLDER, options, io),
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
      initialValue: callingPackageManager(io.variables),
    }))
  if (isCancel(packageManager)) return undefined
  return { ...options, folder, force, packageManager }
}

/** What is wrong with an answer, so that it is asked for again. */
function problemOf(
  folder: string,
  { name }: ProjectOptions,
  { cwd }: CreateIo,
): string | undefined {
  const path = resolve(cwd, folder)
  const own = name ?? nameOf(path)
  const problem = nameProblem(own)
  return problem === undefined ? folderProblem(path, cwd) : `"${own}" ${problem}`
}

/** Whether the folder may be written into: it is empty, or the person says so. */
async function mayWriteInto(folder: string, { cwd, stdin, stdout }: CreateIo): Promise<boolean> {
  // What cannot be a folder at all is said by whoever plans.
  if (folderProblem(folder, cwd) !== undefined) return true
  const entries = entriesOf(folder)
  if (entries.length === 0) return true
  const answer = await confirm({
    input: stdin,
    output: stdout,
    message: `"${relative(cwd, folder) || '.'}" is not empty (${someOf(entries)}). Write into it, over files of the same names?`,
    initialValue: false,
  })
  return answer === true
}
