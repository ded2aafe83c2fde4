/** `tutti cancel`: ends runs. */
import { CancelMode } from '@tutti/protocol'
import { Option, type Command } from 'commander'

import { withTarget, type TargetOptions } from '../target.ts'

import type { CommandContext } from '../command-context.ts'
import type { CancelSettings } from '../runs/cancel-runs.ts'

/** Adds the command. */
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
      const { cancelRuns } = await import('../runs/cancel-runs.ts')
      await cancelRuns(runIds, options, context)
    },
  )
}
