/** `tutti model`: switches the model of a run. */
import { Option, type Command } from 'commander'

import { withTarget, type TargetOptions } from '../target.ts'

import type { CommandContext } from '../command-context.ts'
import type { ModelSettings } from '../steer/switch-model.ts'

const HELP = `
It counts from the next model call on; a call in flight ends with the model it began with. The tier primary is the model of
each task itself, fallback the first of its fallback models; others are those of modelTiers in the config.`

/** Adds the command. */
export function addModelCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('model')
    .description('switch the model of a run, or of one of its tasks')
    .argument('<id>', 'the run')
    .argument('[alias]', 'the model, by its alias')
    .addOption(new Option('--tier <name>', 'a tier of models').conflicts('profile'))
    .option('--profile <name>', 'the tier of this profile')
    .option('--task <name>', 'only this task')
    .option('--json', 'the answer of the API, as one JSON document')
    .addHelpText('after', HELP)
  withTarget(command).action(
    async (runId: string, alias: string | undefined, options: TargetOptions & ModelSettings) => {
      const { switchModel } = await import('../steer/switch-model.ts')
      await switchModel({ runId, alias }, options, context)
    },
  )
}
