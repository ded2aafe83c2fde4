/** What is done with the files of a new project: a repository, and its dependencies. Each says why it was not done. */
import { runProgram, type ProgramEnd } from './run-program.ts'

import type { CreateIo } from './create-io.ts'
import type { ProjectPlan } from './plan.ts'

/** Makes a git repository, unless the project is inside one. Gives a sentence when it could not. */
export async function makeRepository(
  { folder }: ProjectPlan,
  io: CreateIo,
): Promise<string | undefined> {
  const quietly = { io, audience: 'silent' } as const
  const inside = await runProgram(['git', 'rev-parse', '--git-dir'], folder, quietly)
  if (isDone(inside)) return undefined
  const made = await runProgram(['git', 'init', '--quiet'], folder, quietly)
  return isDone(made) ? undefined : `There is no git repository: git ${reasonOf(made)}.`
}

/** Installs the dependencies. Gives a sentence when it could not. */
export async function installDependencies(
  { folder, packageManager }: ProjectPlan,
  io: CreateIo,
): Promise<string | undefined> {
  const end = await runProgram([packageManager, 'install'], folder, { io, audience: 'shown' })
  if (isDone(end)) return undefined
  return `The dependencies are not installed: ${packageManager} ${reasonOf(end)}.`
}

function isDone(end: ProgramEnd): boolean {
  return end.type === 'ended' && end.code === 0
}

function reasonOf(end: ProgramEnd): string {
  if (end.type === 'missing') return 'was not found'
  return end.type === 'stopped' ? `was stopped by ${end.signal}` : `ended with code ${end.code}`
}
