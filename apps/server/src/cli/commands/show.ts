/** The commands that show runs: `tutti runs`, `tutti events` and `tutti export`. */
import { RUN_EVENT_TYPES, suggest, type RunEvent } from '@tutti/protocol'
import { InvalidArgumentError, Option, type Command } from 'commander'

import { countParser, parseEventPlace, parseStatuses } from '../option-values.ts'
import { withTarget, type TargetOptions } from '../target.ts'

import type { CommandContext } from '../command-context.ts'
import type { ExportFormat, ExportSettings } from '../runs/export-run.ts'
import type { EventsSettings } from '../runs/show-events.ts'
import type { RunListFilters } from '../runs/show-runs.ts'

/** How many runs a page of the API has at most. */
const MAX_LIMIT = 1_000

/** How many runs are listed when nothing is said: about a screen. */
const DEFAULT_LIMIT = 20

interface RunsOptions extends TargetOptions, RunListFilters {}

/** Adds `tutti runs`. */
export function addRunsCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('runs')
    .description('list the runs of a server, or show one with its tasks and outputs')
    .argument('[id]', 'the run to show')
    .addOption(
      new Option('-s, --status <statuses>', 'with one of these, such as RUNNING,FAILED').argParser(
        parseStatuses,
      ),
    )
    .option('-t, --tag <tag>', 'with this tag: key, or key:value')
    .option('-e, --ensemble <name>', 'of this ensemble')
    .option('-q, --q <text>', 'whose id begins with it, or that have it in a tag or an input')
    .addOption(
      new Option('-n, --limit <count>', 'how many, the newest')
        .argParser(countParser(1, MAX_LIMIT))
        .default(DEFAULT_LIMIT),
    )
    .addOption(new Option('-a, --all', 'every one, however many').conflicts('limit'))
    .option('--json', 'what the API says, as one JSON document')
  withTarget(command).action(async (runId: string | undefined, options: RunsOptions) => {
    const { showRun, showRuns } = await import('../runs/show-runs.ts')
    await (runId === undefined ? showRuns(options, context) : showRun(runId, options, context))
  })
}

/** Adds `tutti events`. */
export function addEventsCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('events')
    .description('write the events of a run, as they are in its log')
    .argument('<id>', 'the run')
    .option('-f, --follow', 'go on with the events to come, until the run ends')
    .option('--from <seq>', 'first event; negative counts from the end', parseEventPlace)
    .addOption(
      new Option('-t, --type <types>', 'only these, such as task_started,task_completed').argParser(
        eventTypesOf,
      ),
    )
    .option('--json', 'whole events, one JSON document a line')
  withTarget(command).action(async (runId: string, options: TargetOptions & EventsSettings) => {
    const { showEvents } = await import('../runs/show-events.ts')
    await showEvents(runId, options, context)
  })
}

/** Types of events, separated by commas. */
function eventTypesOf(text: string): readonly RunEvent['type'][] {
  return text.split(',').map((part) => {
    const name = part.trim()
    const known = RUN_EVENT_TYPES.find((type) => type === name)
    if (known !== undefined) return known
    const near = suggest(name, RUN_EVENT_TYPES)
    const hint = near === undefined ? 'See the reference of events.' : `Did you mean "${near}"?`
    throw new InvalidArgumentError(`"${name}" is not a type of event. ${hint}`)
  })
}

const HELP = `
trace and dag are AgentEnsemble's forms, which its viewer opens as files named *.trace.json and *.dag.json; run is the run in
detail, events its whole log.`

const EXPORT_FORMATS = ['trace', 'dag', 'run', 'events'] as const satisfies readonly ExportFormat[]

/** Adds `tutti export`. */
export function addExportCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('export')
    .description('write a run as one JSON document for other programs')
    .argument('<id>', 'the run')
    .addOption(
      new Option('--format <format>', 'what is written').choices(EXPORT_FORMATS).default('trace'),
    )
    .option('-o, --output <file>', 'where to (standard output)')
    .addHelpText('after', HELP)
  withTarget(command).action(async (runId: string, options: TargetOptions & ExportSettings) => {
    const { exportRun } = await import('../runs/export-run.ts')
    await exportRun(runId, options, context)
  })
}
