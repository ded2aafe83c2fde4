/** Runs `tutti cancel` and `tutti delete`. */
import { isTerminalRunStatus } from '@tutti/protocol'
import type { CancelMode, RunsCancelled } from '@tutti/protocol/internal'

import { CommandError, toFailureReport } from '../command-error.ts'
import { RUN_STATUS_STYLES } from '../live/run-lines.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines, printMessage } from '../../terminal/print.ts'
import { tableLines } from '../../terminal/table.ts'

import type { TuttiClient } from '@tutti/client'
import type { CommandContext } from '../command-context.ts'

/** Options of `tutti cancel`. */
export interface CancelSettings {
  readonly tag?: string
  readonly mode?: CancelMode
  readonly wait?: boolean
  readonly json?: boolean
}

type Cancelled = RunsCancelled['runs'][number]

/**
 * Cancels runs. If the server refuses to cancel one of them, the command reports it, cancels the others, and ends as
 * REFUSED.
 *
 * @throws {CommandError} USAGE unless either ids or a tag are specified.
 */
export async function cancelNamedRuns(
  runIds: readonly string[],
  options: TargetOptions & CancelSettings,
  context: CommandContext,
): Promise<void> {
  const { tag, wait = false, json = false } = options
  if ((runIds.length === 0) === (tag === undefined)) {
    const advice = ['By id: tutti cancel run-1 run-2', 'By tag: tutti cancel --tag key:value']
    throw new CommandError('USAGE', 'Specify either run ids or a tag', advice)
  }
  const { io } = context
  const client = connectTo(options, context)
  const requested =
    tag === undefined
      ? await cancelEach(client, { runIds: [...new Set(runIds)], mode: options.mode }, context)
      : (await client.runs.cancelAll({ tag, ...toCancelOptions(options.mode) })).runs
  const runs = wait ? await waitUntilStopped(client, requested, context) : requested
  // A run ended before the cancel took effect.
  if (wait && runs.some(({ status }) => status !== 'CANCELLED')) context.exit = 'REFUSED'
  if (json) printJson({ runs: [...runs], total: runs.length } satisfies RunsCancelled, io)
  else if (runs.length > 0) printLines(formatStatuses(runs), io)
  else if (tag !== undefined) printMessage(`No unfinished run has the tag "${tag}"`, io)
}

async function cancelEach(
  client: TuttiClient,
  { runIds, mode }: { readonly runIds: readonly string[]; readonly mode: CancelMode | undefined },
  context: CommandContext,
): Promise<readonly Cancelled[]> {
  const runs: Cancelled[] = []
  for (const runId of runIds) {
    try {
      runs.push(await client.runs.cancel(runId, toCancelOptions(mode)))
    } catch (error) {
      const { exit, message, advice } = toFailureReport(error, context.url)
      // Any other failure would repeat for the other runs.
      if (exit !== 'REFUSED') throw error
      printMessage([`${runId}: ${message}`, ...advice].join('\n'), context.io)
      context.exit = exit
    }
  }
  return runs
}

function toCancelOptions(mode: CancelMode | undefined): { readonly mode?: CancelMode } {
  return mode === undefined ? {} : { mode }
}

/** Waits for the end of each run. Ctrl-C ends the wait; the runs are still cancelled. */
async function waitUntilStopped(
  client: TuttiClient,
  requested: readonly Cancelled[],
  { io }: CommandContext,
): Promise<readonly Cancelled[]> {
  const controller = new AbortController()
  const interrupted = new CommandError(
    'INTERRUPTED',
    'Stopped waiting; the runs are still being cancelled',
  )
  const stop = io.onSignal(() => controller.abort(interrupted))
  try {
    return await Promise.all(
      requested.map(async ({ runId, status }) => {
        if (isTerminalRunStatus(status)) return { runId, status }
        const end = await client.runs.result(runId, { signal: controller.signal })
        return { runId, status: end.status }
      }),
    )
  } catch (error) {
    throw controller.signal.aborted ? interrupted : error
  } finally {
    stop()
  }
}

function formatStatuses(runs: readonly Cancelled[]): ReturnType<typeof tableLines> {
  const [, ...lines] = tableLines(
    [{ title: '' }, { title: '' }],
    runs.map(({ runId, status }) => [
      { text: runId },
      { text: status, style: RUN_STATUS_STYLES[status] },
    ]),
  )
  return lines
}

/** Options of `tutti delete`. */
export interface DeleteSettings {
  readonly json?: boolean
}

/**
 * Deletes runs. If the server refuses to delete one of them, the command reports it, deletes the others, and ends as
 * REFUSED.
 */
export async function deleteRuns(
  runIds: readonly string[],
  options: TargetOptions & DeleteSettings,
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const { runs } = connectTo(options, context)
  const deleted: string[] = []
  for (const runId of new Set(runIds)) {
    try {
      await runs.delete(runId)
      deleted.push(runId)
      if (options.json !== true) printLines([[{ text: `${runId}  deleted` }]], io)
    } catch (error) {
      const { exit, message, advice } = toFailureReport(error, context.url)
      // Any other failure would repeat for the other runs.
      if (exit !== 'REFUSED') throw error
      printMessage([`${runId}: ${message}`, ...advice].join('\n'), io)
      context.exit = exit
    }
  }
  if (options.json === true) printJson({ deleted }, io)
}
