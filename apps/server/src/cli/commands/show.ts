/** The commands that show runs: `tutti runs`, `tutti diff`, `tutti events` and `tutti export`. */
import type { RunEvent } from '@tutti/protocol'
import { RUN_EVENT_TYPES, suggest } from '@tutti/protocol/internal'
import { InvalidArgumentError, Option, type Command } from 'commander'

import { countParser, parseEventPosition, parseStatuses } from '../option-values.ts'
import { withTarget, type TargetOptions } from '../target.ts'

import type { CommandContext } from '../command-context.ts'
import type { DiffSettings } from '../runs/diff-runs.ts'
import type { ExportFormat, ExportSettings } from '../runs/export-run.ts'
import type { EventsSettings } from '../runs/show-events.ts'
import type { RunListFilters } from '../runs/show-runs.ts'

/** Maximum number of runs in a page of the API. */
const MAX_LIMIT = 1_000

/** Default number of listed runs: about one screen. */
const DEFAULT_LIMIT = 20

interface RunsOptions extends TargetOptions, RunListFilters {}

/** Adds `tutti runs`. */
export function addRunsCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('runs')
    .description('list the runs of a server, or show one with its tasks and outputs')
    .argument('[id]', 'id of the run to show')
    .addOption(
      new Option(
        '-s, --status <statuses>',
        'only runs with one of these statuses, such as RUNNING,FAILED',
      ).argParser(parseStatuses),
    )
    .option('-t, --tag <tag>', 'only runs with this tag: key, or key:value')
    .option('-e, --ensemble <name>', 'only runs of this ensemble')
    .option(
      '-q, --q <text>',
      'only runs whose id starts with this text, or with this text in a tag or an input',
    )
    .addOption(
      new Option('-n, --limit <count>', 'maximum number of runs, newest first')
        .argParser(countParser(1, MAX_LIMIT))
        .default(DEFAULT_LIMIT),
    )
    .addOption(new Option('-a, --all', 'all runs').conflicts('limit'))
    .option('--json', 'print the API response as one JSON document')
  withTarget(command).action(async (runId: string | undefined, options: RunsOptions) => {
    const { showRun, showRuns } = await import('../runs/show-runs.ts')
    await (runId === undefined ? showRuns(options, context) : showRun(runId, options, context))
  })
}

const DIFF_HELP = `
Tasks are aligned by name, tool calls by tool and arguments. Changes are those from A to B. A task or a call that a fork or a
replay took from its parent is marked as reused and is not counted. The exit code is 0 whether or not the runs differ.`

/** Adds `tutti diff`. */
export function addDiffCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('diff')
    .description('compare two runs: tasks, outputs, tool calls, tokens, cost and time')
    .argument('<a>', 'id of the first run, such as the parent')
    .argument('<b>', 'id of the second run, such as its fork or replay')
    .option('--json', 'print the API response as one JSON document')
    .addHelpText('after', DIFF_HELP)
  withTarget(command).action(
    async (a: string, b: string, options: TargetOptions & DiffSettings) => {
      const { diffRuns } = await import('../runs/diff-runs.ts')
      await diffRuns([a, b], options, context)
    },
  )
}

/** Adds `tutti events`. */
export function addEventsCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('events')
    .description('print the events of a run')
    .argument('<id>', 'id of the run')
    .option('-f, --follow', 'continue with new events until the run ends')
    .option('--from <seq>', 'first event; negative numbers count from the end', parseEventPosition)
    .addOption(
      new Option(
        '-t, --type <types>',
        'only events of these types, such as task_started,task_completed',
      ).argParser(parseEventTypes),
    )
    .option('--json', 'print complete events, one JSON document per line')
  withTarget(command).action(async (runId: string, options: TargetOptions & EventsSettings) => {
    const { showEvents } = await import('../runs/show-events.ts')
    await showEvents(runId, options, context)
  })
}

/** Parses types of events, separated by commas. */
function parseEventTypes(text: string): readonly RunEvent['type'][] {
  return text.split(',').map((part) => {
    const name = part.trim()
    const known = RUN_EVENT_TYPES.find((type) => type === name)
    if (known !== undefined) return known
    const near = suggest(name, RUN_EVENT_TYPES)
    const hint = near === undefined ? 'See the event reference.' : `Did you mean "${near}"?`
    throw new InvalidArgumentError(`Unknown event type "${name}". ${hint}`)
  })
}

const HELP = `
Formats: "trace" and "dag" are those of AgentEnsemble, whose viewer opens them as files named *.trace.json and *.dag.json;
"run" is the run in detail; "events" is its complete event log.`

const EXPORT_FORMATS = ['trace', 'dag', 'run', 'events'] as const satisfies readonly ExportFormat[]

/** Adds `tutti export`. */
export function addExportCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('export')
    .description('export a run as one JSON document')
    .argument('<id>', 'id of the run')
    .addOption(
      new Option('--format <format>', 'format of the document')
        .choices(EXPORT_FORMATS)
        .default('trace'),
    )
    .option('-o, --output <file>', 'file to write (default: standard output)')
    .addHelpText('after', HELP)
  withTarget(command).action(async (runId: string, options: TargetOptions & ExportSettings) => {
    const { exportRun } = await import('../runs/export-run.ts')
    await exportRun(runId, options, context)
  })
}
