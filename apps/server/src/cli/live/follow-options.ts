/** The options of the commands that follow a run. */
import type { Command } from 'commander'

import { countParser } from '../option-values.ts'

/** What they give, as commander names it. */
export interface FollowCommandOptions {
  /** The run in detail as one document at the end. */
  readonly json?: true
  /** The events as they come, one JSON document a line. */
  readonly events?: true
  readonly plain?: true
  readonly quiet?: true
  /** False with `--no-review`. */
  readonly review: boolean
  readonly maxReconnects?: number
}

/** Adds them to a command. */
export function withFollowOptions(command: Command): Command {
  return command
    .option('--json', 'at the end, the run in detail on standard output, as one JSON document')
    .option('--events', 'the events on standard output as they come, one JSON document a line')
    .option('--plain', 'progress as plain lines, also on a terminal')
    .option('-q, --quiet', 'no progress; only reviews that wait, and failures')
    .option('--no-review', 'do not wait for reviews: leave when the run can only wait for one')
    .option(
      '--max-reconnects <count>',
      'tries in a row to reach a server that is away (no limit)',
      countParser(0, 1_000_000),
    )
}

/** What the help says of them. */
export const FOLLOW_HELP = `
Standard output has the result only: the output of the last task, or what --json and --events say; all else is on
standard error. On a terminal that is a live view; elsewhere, with --plain, with CI or TERM=dumb set, one line for each
thing that happens. A review is asked about on the terminal; elsewhere the command says how to answer it, and waits.`
