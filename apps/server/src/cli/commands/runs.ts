/** `tutti runs`: the runs of a server, or one of them. */
import { Option, type Command } from 'commander'

import { countFrom, statusesOf } from '../option-values.ts'
import { withTarget, type TargetOptions } from '../target.ts'

import type { CommandContext } from '../command-context.ts'
import type { RunFilters } from '../runs/show-runs.ts'

/** How many runs a page of the API has at most. */
const MAX_LIMIT = 1_000

/** How many runs are listed when nothing is said: about a screen. */
const DEFAULT_LIMIT = 20

interface RunsOptions extends TargetOptions, RunFilters {}

/** Adds the command. */
export function addRunsCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('runs')
    .description('list the runs of a server, or show one with its tasks and outputs')
    .argument('[id]', 'the run to show')
    .addOption(
      new Option('-s, --status <statuses>', 'with one of these, such as RUNNING,FAILED').argParser(
        statusesOf,
      ),
    )
    .option('-t, --tag <tag>', 'with this tag: key, or key:value')
    .option('-e, --ensemble <name>', 'of this ensemble')
    .option('-q, --q <text>', 'whose id begins with it, or that have it in a tag or an input')
    .addOption(
      new Option('-n, --limit <count>', 'how many, the newest')
        .argParser(countFrom(1, MAX_LIMIT))
        .default(DEFAULT_LIMIT),
    )
    .addOption(new Option('-a, --all', 'every one, however many').conflicts('limit'))
    .option('--json', 'what the API says, as one JSON document')
  withTarget(command).action(async (runId: string | undefined, options: RunsOptions) => {
    const { showRun, showRuns } = await import('../runs/show-runs.ts')
    await (runId === undefined ? showRuns(options, context) : showRun(runId, options, context))
  })
}
