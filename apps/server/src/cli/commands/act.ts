/** The commands that act on runs: `tutti inject`, `tutti model`, `tutti cancel` and `tutti delete`. */
import { CancelMode, Priority } from '@tutti/protocol'
import { Option, type Command } from 'commander'

import { withTarget, type TargetOptions } from '../target.ts'

import type { CancelSettings, DeleteSettings } from '../runs/end-runs.ts'
import type { CommandContext } from '../command-context.ts'
import type { InjectSettings, ModelSettings } from '../runs/steer-run.ts'

/** Adds `tutti inject`. */
export function addInjectCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('inject')
    .description('inject guidance into a run; its agents read it before their next model call')
    .argument('<id>', 'id of the run')
    .argument('<text>', 'the guidance: text, @file, or - for standard input')
    .option('--to <name>', 'only the task of this name, or the agents with this role')
    .addOption(
      new Option('--priority <priority>', 'priority of the guidance').choices(Priority.enum),
    )
    .option(
      '--ttl <duration>',
      'how long it stays in force, such as PT10M (default: until the run ends)',
    )
    .option('--json', 'print the API response as one JSON document')
  withTarget(command).action(
    async (runId: string, text: string, options: TargetOptions & InjectSettings) => {
      const { inject } = await import('../runs/steer-run.ts')
      await inject({ runId, text }, options, context)
    },
  )
}

const MODEL_HELP = `
The switch applies from the next model call on; a call in flight keeps its model. The tier "primary" is the model of each
task, and "fallback" the first of its fallback models. Other tiers are defined by modelTiers in the config.`

/** Adds `tutti model`. */
export function addModelCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('model')
    .description('switch the model of a run, or of one of its tasks')
    .argument('<id>', 'id of the run')
    .argument('[alias]', 'alias of the model')
    .addOption(new Option('--tier <name>', 'tier of models to switch to').conflicts('profile'))
    .option('--profile <name>', 'profile whose tier to switch to')
    .option('--task <name>', 'switch only this task')
    .option('--json', 'print the API response as one JSON document')
    .addHelpText('after', MODEL_HELP)
  withTarget(command).action(
    async (runId: string, alias: string | undefined, options: TargetOptions & ModelSettings) => {
      const { switchModel } = await import('../runs/steer-run.ts')
      await switchModel({ runId, alias }, options, context)
    },
  )
}

/** Adds `tutti cancel`. */
export function addCancelCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('cancel')
    .description('cancel runs by id or by tag')
    .argument('[ids...]', 'ids of the runs')
    .option('-t, --tag <tag>', 'cancel every unfinished run with this tag: key, or key:value')
    .addOption(
      new Option(
        '-m, --mode <mode>',
        'abort calls in flight, or stop at the next task boundary',
      ).choices(CancelMode.enum),
    )
    .option('-w, --wait', 'wait until all work has stopped')
    .option('--json', 'print the result for each run as one JSON document')
  withTarget(command).action(
    async (runIds: readonly string[], options: TargetOptions & CancelSettings) => {
      const { cancelNamedRuns } = await import('../runs/end-runs.ts')
      await cancelNamedRuns(runIds, options, context)
    },
  )
}

/** Adds `tutti delete`. */
export function addDeleteCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('delete')
    .description('delete runs with their events and outputs; active runs are cancelled first')
    .argument('<ids...>', 'ids of the runs')
    .option('--json', 'print the result for each run as one JSON document')
  withTarget(command).action(
    async (runIds: readonly string[], options: TargetOptions & DeleteSettings) => {
      const { deleteRuns } = await import('../runs/end-runs.ts')
      await deleteRuns(runIds, options, context)
    },
  )
}
