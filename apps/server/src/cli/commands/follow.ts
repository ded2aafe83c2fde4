/** The commands that follow a run: `tutti run` starts one, `tutti watch` follows an existing one. */
import { FOLLOW_HELP, withFollowOptions } from '../live/follow-options.ts'
import { parseEventPosition } from '../option-values.ts'
import { withSubmitOptions } from '../submit/submit-options.ts'
import { withTarget } from '../target.ts'

import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import type { RunCommandOptions } from '../live/run-and-follow.ts'
import type { WatchCommandOptions } from '../live/watch-run.ts'

const RUN_HELP = `
Examples:
  tutti run topic='AI safety'                      the first ensemble of the server
  tutti run briefing topic='AI safety' -t team=ai  the ensemble "briefing", with a tag
  tutti run --input-file text=report.txt           an input from a file
  tutti run --override writer.model=large          overrides one task of this run
  tutti run --tasks @tasks.json topic=tea          your own tasks
  cat body.json | tutti run --request - --detach   a complete request; prints the id and exits

Inputs are passed as text, unchanged. With --detach, --json prints the server's response to the submit.
${FOLLOW_HELP}
Ctrl-C asks whether to cancel the run, to continue, or to leave it running; a second Ctrl-C leaves. After a cancel, the
command follows the run until its work has stopped. Without a terminal, SIGINT and SIGTERM cancel the run and wait up to
20 s for its end; a second signal leaves. A lost connection or a closed terminal never cancels a run.`

/** Adds `tutti run`. */
export function addRunCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('run')
    .description('start a run and follow it to its end')
    .argument('[ensemble]', 'name of the ensemble (default: the first of the server)')
    .argument('[inputs...]', 'inputs of the run, as key=value')
    .option('-d, --detach', 'print the id of the run and exit')
    .option('--detach-on-signal', 'exit on Ctrl-C and signals, and let the run continue')
    .addHelpText('after', RUN_HELP)
  withTarget(withFollowOptions(withSubmitOptions(command))).action(
    async (first: string | undefined, rest: readonly string[], options: RunCommandOptions) => {
      const { runAndFollow } = await import('../live/run-and-follow.ts')
      await runAndFollow(first === undefined ? rest : [first, ...rest], options, context)
    },
  )
}

const WATCH_HELP = `${FOLLOW_HELP}
Ctrl-C leaves, and the run continues. For a run that has already ended, the command shows its end at once. The exit code
depends on the outcome of the run.`

/** Adds `tutti watch`. */
export function addWatchCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('watch')
    .description('follow an existing run to its end')
    .argument('[id]', 'id of the run (default: the newest unfinished run)')
    .option(
      '--from <seq>',
      'first event of --events and of plain lines; negative numbers count from the end',
      parseEventPosition,
    )
    .addHelpText('after', WATCH_HELP)
  withTarget(withFollowOptions(command)).action(
    async (runId: string | undefined, options: WatchCommandOptions) => {
      const { watchRun } = await import('../live/watch-run.ts')
      await watchRun(runId, options, context)
    },
  )
}
