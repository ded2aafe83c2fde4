/** Runs `tutti runs`. */
import { CommandError } from '../command-error.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines, printMessage } from '../../terminal/print.ts'
import { runDetailLines } from './run-detail-lines.ts'
import { runTable } from './run-table.ts'

import type { TuttiClient } from '@tutti/client'
import type { ListRunsQuery, RunList, RunSummary } from '@tutti/protocol'
import type { CommandContext } from '../command-context.ts'

/** Filters and output of a list of runs. */
export interface RunListFilters extends Pick<
  ListRunsQuery,
  'status' | 'tag' | 'ensemble' | 'q' | 'limit'
> {
  readonly all?: boolean
  readonly json?: boolean
}

/** Options of `tutti runs`. */
export type ListOptions = TargetOptions & RunListFilters

/** Page size of `--all`. */
const PAGE = 200

/** Lists runs. */
export async function showRuns(options: ListOptions, context: CommandContext): Promise<void> {
  const { io } = context
  const { json = false } = options
  const query = toQuery(options)
  const client = connectTo(options, context)
  const list = options.all === true ? await listAll(client, query) : await client.runs.list(query)
  if (json) {
    printJson(list, io)
  } else if (list.runs.length === 0) {
    printMessage(describeEmptyList(query), io)
  } else {
    printLines(runTable(list.runs, Date.now()), io)
    const { length } = list.runs
    const total = list.totalCapped === true ? `more than ${list.total}` : list.total
    if (length < list.total)
      printMessage(`Showing the newest ${length} of ${total}; use --limit or --all for more`, io)
  }
}

export async function showRun(
  runId: string,
  options: ListOptions,
  context: CommandContext,
): Promise<void> {
  const unfit = (['status', 'tag', 'ensemble', 'q', 'all'] as const).find((name) => name in options)
  if (unfit !== undefined) {
    throw new CommandError(
      'USAGE',
      `--${unfit} filters the list and cannot be combined with a run id`,
    )
  }
  const run = await connectTo(options, context).runs.get(runId)
  if (options.json === true) printJson(run, context.io)
  else printLines(runDetailLines(run, Date.now()), context.io)
}

function toQuery({ status, tag, ensemble, q, limit }: ListOptions): ListRunsQuery {
  const given = Object.entries({ status, tag, ensemble, q, limit })
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

async function listAll(client: TuttiClient, query: ListRunsQuery): Promise<RunList> {
  const runs: RunSummary[] = []
  for await (const run of client.runs.listAll({ ...query, limit: PAGE })) runs.push(run)
  return { runs, total: runs.length }
}

function describeEmptyList({ limit: _, ...filters }: ListRunsQuery): string {
  if (Object.keys(filters).length > 0) return 'No matching runs. List all runs: tutti runs'
  return 'No runs yet. Start one: tutti run'
}
