/** Parses the command line, asks for missing options on a terminal, creates the project, and prints the next steps. */
import { relative } from 'node:path'

import { intro, note, outro } from '@clack/prompts'
import { CommanderError } from 'commander'

import { readArguments } from './arguments.ts'
import { ask } from './ask.ts'
import { CreateError, EXIT } from './create-error.ts'
import { canAsk, type CreateIo } from './create-io.ts'
import { NO_KEY_NEEDED, formatNextSteps } from './next-steps.ts'
import { planProject, type ProjectPlan } from './plan.ts'
import { installDependencies, createRepository } from './prepare.ts'
import { readOwnVersion, createProjectFiles } from './template.ts'
import { writeProject } from './write-project.ts'

/** Runs the program and returns its exit code. Never throws. */
export async function runCreate(args: readonly string[], io: CreateIo): Promise<number> {
  try {
    const version = readOwnVersion()
    const options = readArguments(args, { io, version })
    const isInteractive = canAsk(io) && !options.yes
    if (isInteractive) intro('Create a Tutti project', { output: io.stdout })
    const answered = isInteractive ? await ask(options, io) : options
    if (answered === undefined) {
      io.stderr.write('Cancelled; no project was created\n')
      return EXIT.interrupted
    }
    return await createProject(planProject(answered, io), io, version)
  } catch (error) {
    // Commander has already printed the problem, or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    const isExpected = error instanceof CreateError
    const stack = error instanceof Error ? error.stack : String(error)
    io.stderr.write(`${isExpected ? error.message : stack}\n`)
    return isExpected ? error.exitCode : EXIT.failed
  }
}

async function createProject(plan: ProjectPlan, io: CreateIo, version: string): Promise<number> {
  const files = createProjectFiles({ ...plan, version })
  writeProject(files, plan.folder)
  const where = relative(io.cwd, plan.folder) || '.'
  io.stdout.write(`Created ${plan.name} in ${where}: ${files.length} files\n`)
  const repositoryProblem = plan.git ? await createRepository(plan, io) : undefined
  const installProblem = plan.install ? await installDependencies(plan, io) : undefined
  for (const problem of [repositoryProblem, installProblem])
    if (problem !== undefined) io.stderr.write(`${problem}\n`)
  const installed = plan.install && installProblem === undefined
  printNextSteps(formatNextSteps(plan, { cwd: io.cwd, installed }), io)
  return installProblem === undefined ? EXIT.ok : EXIT.failed
}

function printNextSteps(steps: string, io: CreateIo): void {
  if (io.stdout.isTTY === true) {
    note(steps, 'Next steps', { output: io.stdout })
    outro(NO_KEY_NEEDED, { output: io.stdout })
    return
  }
  const indented = steps.replaceAll(/^/gm, '  ')
  io.stdout.write(`\nNext steps:\n${indented}\n\n${NO_KEY_NEEDED}\n`)
}
