/** The commands that follow a run: `tutti run` starts one, `tutti watch` follows one that exists. */
import { FOLLOW_HELP, withFollowOptions } from '../live/follow-options.ts'
import { parseEventPlace } from '../option-values.ts'
import { withSubmitOptions } from '../submit/submit-options.ts'
import { withTarget } from '../target.ts'

import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import type { RunCommandOptions } from '../live/run-and-follow.ts'
import type { WatchCommandOptions } from '../live/watch-run.ts'

const RUN_HELP = `
  tutti run topic='AI safety'                      the first ensemble of the server
  tutti run briefing topic='AI safety' -t team=ai  the ensemble "briefing", with a tag
  tutti run --input-file text=report.txt           an input from a file
  tutti run --override writer.model=large          one task changed for this run
  tutti run --tasks @tasks.json topic=tea          tasks of your own
  cat body.json | tutti run --request - --detach   a whole request; prints the id and leaves

Inputs are text, and stay as they are written. With --detach, --json prints what the server answered to the submit.
${FOLLOW_HELP}
Ctrl-C asks once whether to cancel the run, to go on, or to leave it running; Ctrl-C again leaves. y cancels, and the run
is followed until its work has stopped. Where nobody can be asked, SIGINT and SIGTERM cancel the run and wait up to 20 s
for its end; a second one leaves. A lost connection or a closed terminal never cancels a run.`

/** Adds `tutti run`. */
export function addRunCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('run')
    .description('start a run and follow it; ends as the run ends')
    .argument('[ensemble]', 'the ensemble; the first of the server when absent')
    .argument('[inputs...]', 'its inputs, as key=value')
    .option('-d, --detach', 'print the id of the run and leave')
    .option('--detach-on-signal', 'signals and Ctrl-C leave the run running')
    .addHelpText('after', RUN_HELP)
  withTarget(withFollowOptions(withSubmitOptions(command))).action(
    async (first: string | undefined, rest: readonly string[], options: RunCommandOptions) => {
      const { runAndFollow } = await import('../live/run-and-follow.ts')
      await runAndFollow(first === undefined ? rest : [first, ...rest], options, context)
    },
  )
}

const WATCH_HELP = `${FOLLOW_HELP}
Ctrl-C leaves; the run goes on. A run that is over shows its end at once. The exit code is that of the run.`

/** Adds `tutti watch`. */
export function addWatchCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('watch')
    .description('follow a run: what has happened, then what happens; ends as the run ends')
    .argument('[id]', 'the run; the newest that is not over when absent')
    .option(
      '--from <seq>',
      'first event of --events and of plain lines; negative counts from the end',
      parseEventPlace,
    )
    .addHelpText('after', WATCH_HELP)
  withTarget(withFollowOptions(command)).action(
    async (runId: string | undefined, options: WatchCommandOptions) => {
      const { watchRun } = await import('../live/watch-run.ts')
      await watchRun(runId, options, context)
    },
  )
}
