/** Runs `tutti cancel` and `tutti delete`. */
import { isTerminalRunStatus, type CancelMode, type RunsCancelled } from '@tutti/protocol'

import { CommandError, tellingOf } from '../command-error.ts'
import { STATUS_STYLES } from '../live/run-lines.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines, say } from '../text/print.ts'
import { tableLines } from '../text/table.ts'

import type { TuttiClient } from '@tutti/client'
import type { CommandContext } from '../command-context.ts'

/** Which runs, and how. */
export interface CancelSettings {
  readonly tag?: string
  readonly mode?: CancelMode
  readonly wait?: boolean
  readonly json?: boolean
}

type Cancelled = RunsCancelled['runs'][number]

/**
 * Cancels runs. One that cannot be cancelled is said, and the others are; the first such refusal is how the command
 * ends.
 *
 * @throws {CommandError} USAGE when neither ids nor a tag are given, or both.
 */
export async function cancelNamedRuns(
  runIds: readonly string[],
  options: TargetOptions & CancelSettings,
  context: CommandContext,
): Promise<void> {
  const { tag, wait = false, json = false } = options
  if ((runIds.length === 0) === (tag === undefined)) {
    const advice = ['By id: tutti cancel run-1 run-2', 'By tag: tutti cancel --tag key:value']
    throw new CommandError('USAGE', 'Give either the ids of runs or a tag', advice)
  }
  const { io } = context
  const client = connectTo(options, context)
  const asked =
    tag === undefined
      ? await cancelEach(client, { runIds: [...new Set(runIds)], mode: options.mode }, context)
      : (await client.runs.cancelAll({ tag, ...modeOf(options.mode) })).runs
  const runs = wait ? await untilStopped(client, asked, context) : asked
  // It came to its end before the cancel took hold.
  if (wait && runs.some(({ status }) => status !== 'CANCELLED')) context.exit = 'REFUSED'
  if (json) printJson({ runs: [...runs], total: runs.length } satisfies RunsCancelled, io)
  else if (runs.length > 0) printLines(linesOf(runs), io)
  else if (tag !== undefined) say(`No run with the tag "${tag}" is under way`, io)
}

async function cancelEach(
  client: TuttiClient,
  { runIds, mode }: { readonly runIds: readonly string[]; readonly mode: CancelMode | undefined },
  context: CommandContext,
): Promise<readonly Cancelled[]> {
  const runs: Cancelled[] = []
  for (const runId of runIds) {
    try {
      runs.push(await client.runs.cancel(runId, modeOf(mode)))
    } catch (error) {
      const { exit, message, advice } = tellingOf(error, context.url)
      // A server that cannot be reached is the same for all others.
      if (exit !== 'REFUSED') throw error
      say([`${runId}: ${message}`, ...advice].join('\n'), context.io)
      context.exit = exit
    }
  }
  return runs
}

function modeOf(mode: CancelMode | undefined): { readonly mode?: CancelMode } {
  return mode === undefined ? {} : { mode }
}

/** Waits for the end of each run; Ctrl-C ends the wait, and takes nothing back. */
async function untilStopped(
  client: TuttiClient,
  asked: readonly Cancelled[],
  { io }: CommandContext,
): Promise<readonly Cancelled[]> {
  const controller = new AbortController()
  const interrupted = new CommandError(
    'INTERRUPTED',
    'Stopped waiting; the runs are cancelled anyway',
  )
  const stop = io.onSignal(() => controller.abort(interrupted))
  try {
    return await Promise.all(
      asked.map(async ({ runId, status }) => {
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

function linesOf(runs: readonly Cancelled[]): ReturnType<typeof tableLines> {
  const [, ...lines] = tableLines(
    [{ title: '' }, { title: '' }],
    runs.map(({ runId, status }) => [
      { text: runId },
      { text: status, style: STATUS_STYLES[status] },
    ]),
  )
  return lines
}

/** Output options. */
export interface DeleteSettings {
  readonly json?: boolean
}

/**
 * Removes runs. One that cannot be removed is reported and the others are removed; the last such refusal is how the
 * command ends.
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
      const { exit, message, advice } = tellingOf(error, context.url)
      // A server that cannot be reached is the same for all others.
      if (exit !== 'REFUSED') throw error
      say([`${runId}: ${message}`, ...advice].join('\n'), io)
      context.exit = exit
    }
  }
  if (options.json === true) printJson({ deleted }, io)
}
