/** The commands that act on runs: `tutti inject`, `tutti model`, `tutti cancel` and `tutti delete`. */
import { CancelMode, Priority } from '@tutti/protocol'
import { Option, type Command } from 'commander'

import { withTarget, type TargetOptions } from '../target.ts'

import type { CancelSettings, DeleteSettings } from '../runs/end-runs.ts'
import type { CommandContext } from '../command-context.ts'
import type { InjectSettings, ModelSettings } from '../runs/steer-run.ts'

const INJECT_HELP = `
The agents read it before their next model call. The text is an argument, @file, or - for standard input.`

/** Adds `tutti inject`. */
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
    .addHelpText('after', INJECT_HELP)
  withTarget(command).action(
    async (runId: string, text: string, options: TargetOptions & InjectSettings) => {
      const { inject } = await import('../runs/steer-run.ts')
      await inject({ runId, text }, options, context)
    },
  )
}

const MODEL_HELP = `
It counts from the next model call on; a call in flight ends with the model it began with. The tier primary is the model of
each task itself, fallback the first of its fallback models; others are those of modelTiers in the config.`

/** Adds `tutti model`. */
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
    .description('cancel runs, by their ids or by a tag')
    .argument('[ids...]', 'the runs to cancel')
    .option('-t, --tag <tag>', 'every run with this tag that has not ended: key, or key:value')
    .addOption(
      new Option(
        '-m, --mode <mode>',
        'abort what is in flight, or stop at the boundary of a task',
      ).choices(CancelMode.enum),
    )
    .option('-w, --wait', 'until the work has really stopped')
    .option('--json', 'the result for each run, as one JSON document')
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
    .description('remove runs with their events and outputs; an active run is cancelled first')
    .argument('<ids...>', 'the runs to remove')
    .option('--json', 'the result for each run, as one JSON document')
  withTarget(command).action(
    async (runIds: readonly string[], options: TargetOptions & DeleteSettings) => {
      const { deleteRuns } = await import('../runs/end-runs.ts')
      await deleteRuns(runIds, options, context)
    },
  )
}
