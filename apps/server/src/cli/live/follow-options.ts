/** The options of the commands that follow a run. */
import type { Command } from 'commander'

import { countParser } from '../option-values.ts'

/** Values of the options, as commander names them. */
export interface FollowCommandOptions {
  /** Prints the run in detail as one document at the end. */
  readonly json?: true
  /** Prints the events as they arrive, one JSON document per line. */
  readonly events?: true
  readonly plain?: true
  readonly quiet?: true
  /** False with `--no-review`. */
  readonly review: boolean
  readonly maxReconnects?: number
}

/** Adds the options to a command. */
export function withFollowOptions(command: Command): Command {
  return command
    .option('--json', 'at the end, print the run in detail as one JSON document')
    .option('--events', 'print the events as they arrive, one JSON document per line')
    .option('--plain', 'show progress as plain lines, also on a terminal')
    .option('-q, --quiet', 'show no progress, only open reviews and failures')
    .option('--no-review', 'do not wait for reviews: exit when the run can only wait for one')
    .option(
      '--max-reconnects <count>',
      'consecutive attempts to reach a lost server (default: no limit)',
      countParser(0, 1_000_000),
    )
}

/** Help text about the options. */
export const FOLLOW_HELP = `
Standard output receives only the result: the output of the last task, or the JSON of --json or --events. Progress goes
to standard error: as a live view on a terminal, otherwise (and with --plain, or with CI or TERM=dumb set) as one line per
event. On a terminal, the command asks for the decision of each review; elsewhere it prints how to decide, and waits.`
