/** `tutti watch`: follows a run that is there. */

import { FOLLOW_HELP, withFollowOptions } from '../live/follow-options.ts'
import { placeOf } from '../option-values.ts'
import { withTarget } from '../target.ts'

import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import type { WatchCommandOptions } from '../live/watch-run.ts'

const HELP = `${FOLLOW_HELP}
Ctrl-C leaves; the run goes on. A run that is over shows its end at once. The exit code is that of the run.`

/** Adds the command. */
export function addWatchCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('watch')
    .description('follow a run: what has happened, then what happens; ends as the run ends')
    .argument('[id]', 'the run; the newest that is not over when absent')
    .option(
      '--from <seq>',
      'first event of --events and of plain lines; negative counts from the end',
      placeOf,
    )
    .addHelpText('after', HELP)
  withTarget(withFollowOptions(command)).action(
    async (runId: string | undefined, options: WatchCommandOptions) => {
      const { watchRun } = await import('../live/watch-run.ts')
      await watchRun(runId, options, context)
    },
  )
}
