/** Reads the command line, asks where somebody is there to ask, creates the project, and says what to do next. */
import { relative } from 'node:path'

import { intro, note, outro } from '@clack/prompts'
import { CommanderError } from 'commander'

import { readArguments } from './arguments.ts'
import { ask } from './ask.ts'
import { CreateError, EXIT } from './create-error.ts'
import { canAsk, type CreateIo } from './create-io.ts'
import { NO_KEY_NEEDED, nextSteps } from './next-steps.ts'
import { projectNodeProblem } from './node-version.ts'
import { planOf, type ProjectPlan } from './plan.ts'
import { installDependencies, makeRepository } from './prepare.ts'
import { ownVersion, projectFiles } from './template.ts'
import { writeProject } from './write-project.ts'

/** Does what the command line says: the exit code. Never throws. */
export async function runCreate(words: readonly string[], io: CreateIo): Promise<number> {
  try {
    const version = ownVersion()
    const options = readArguments(words, { io, version })
    const asks = canAsk(io) && !options.yes
    if (asks) intro('A new Tutti project', { output: io.stdout })
    const answered = asks ? await ask(options, io) : options
    if (answered === undefined) {
      io.stderr.write('Nothing was created\n')
      return EXIT.interrupted
    }
    return await create(planOf(answered, io), io, version)
  } catch (error) {
    // Commander has said by itself what is wrong, or has shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    const expected = error instanceof CreateError
    const stack = error instanceof Error ? error.stack : String(error)
    io.stderr.write(`${expected ? error.message : stack}\n`)
    return expected ? error.exitCode : EXIT.failed
  }
}

async function create(plan: ProjectPlan, io: CreateIo, version: string): Promise<number> {
  const files = projectFiles({ ...plan, version })
  writeProject(files, plan.folder)
  const where = relative(io.cwd, plan.folder) || '.'
  io.stdout.write(`Created ${plan.name} in ${where}: ${files.length} files\n`)
  const noRepository = plan.git ? await makeRepository(plan, io) : undefined
  const notInstalled = plan.install ? await installDependencies(plan, io) : undefined
  const problems = [noRepository, notInstalled, projectNodeProblem(io.nodeVersion)]
  for (const problem of problems) if (problem !== undefined) io.stderr.write(`${problem}\n`)
  const installed = plan.install && notInstalled === undefined
  tellNext(nextSteps(plan, { cwd: io.cwd, installed }), io)
  return notInstalled === undefined ? EXIT.ok : EXIT.failed
}

function tellNext(steps: string, io: CreateIo): void {
  if (io.stdout.isTTY === true) {
    note(steps, 'Next', { output: io.stdout })
    outro(NO_KEY_NEEDED, { output: io.stdout })
    return
  }
  const indented = steps.replaceAll(/^/gm, '  ')
  io.stdout.write(`\nNext:\n${indented}\n\n${NO_KEY_NEEDED}\n`)
}
