/** Prepares a new project: creates a git repository, and installs the dependencies. */
import { runProgram, type ProgramEnd } from './run-program.ts'

import type { CreateIo } from './create-io.ts'
import type { ProjectPlan } from './plan.ts'

/** Creates a git repository, unless the project is inside one. Returns the problem if it failed. */
export async function createRepository(
  { folder }: ProjectPlan,
  io: CreateIo,
): Promise<string | undefined> {
  const quietly = { io, audience: 'silent' } as const
  const inside = await runProgram(['git', 'rev-parse', '--git-dir'], folder, quietly)
  if (hasSucceeded(inside)) return undefined
  const made = await runProgram(['git', 'init', '--quiet'], folder, quietly)
  return hasSucceeded(made)
    ? undefined
    : `Failed to create a git repository: git ${describeFailure(made)}.`
}

/** Installs the dependencies. Returns the problem if it failed. */
export async function installDependencies(
  { folder, packageManager }: ProjectPlan,
  io: CreateIo,
): Promise<string | undefined> {
  const end = await runProgram([packageManager, 'install'], folder, { io, audience: 'shown' })
  if (hasSucceeded(end)) return undefined
  return `Failed to install the dependencies: ${packageManager} ${describeFailure(end)}.`
}

function hasSucceeded(end: ProgramEnd): boolean {
  return end.type === 'ended' && end.code === 0
}

function describeFailure(end: ProgramEnd): string {
  if (end.type === 'missing') return 'was not found'
  return end.type === 'stopped' ? `was stopped by ${end.signal}` : `exited with code ${end.code}`
}
