/** `tutti inject`: tells the agents of a run something. */
import { Priority } from '@tutti/protocol'
import { Option, type Command } from 'commander'

import { withTarget, type TargetOptions } from '../target.ts'

import type { CommandContext } from '../command-context.ts'
import type { InjectSettings } from '../steer/inject.ts'

const HELP = `
The agents read it before their next model call. The text is an argument, @file, or - for standard input.`

/** Adds the command. */
export function addInjectCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('inject')
    .description('tell the agents of a run something before their next model call')
    .argument('<id>', 'the run')
    .argument('<text>', 'what they are told')
    .option('--to <name>', 'only this task, or the agents of this role')
    .addOption(new Option('--priority <priority>', 'how urgent it is').choices(Priority.enum))
    .option('--ttl <duration>', 'how long it stays in force, such as PT10M (until the run ends)')
    .option('--json', 'the answer of the API, as one JSON document')
    .addHelpText('after', HELP)
  withTarget(command).action(
    async (runId: string, text: string, options: TargetOptions & InjectSettings) => {
      const { inject } = await import('../steer/inject.ts')
      await inject({ runId, text }, options, context)
    },
  )
}
