/** `tutti delete`: removes runs with their events. */
import { withTarget, type TargetOptions } from '../target.ts'

import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import type { DeleteSettings } from '../runs/delete-runs.ts'

/** Adds the command. */
export function addDeleteCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('delete')
    .description('remove runs with their events and outputs; an active run is cancelled first')
    .argument('<ids...>', 'the runs to remove')
    .option('--json', 'the result for each run, as one JSON document')
  withTarget(command).action(
    async (runIds: readonly string[], options: TargetOptions & DeleteSettings) => {
      const { deleteRuns } = await import('../runs/delete-runs.ts')
      await deleteRuns(runIds, options, context)
    },
  )
}
