/** Runs `tutti watch`. */
import { UNFINISHED_RUN_STATUS_LIST } from '@tutti/protocol/internal'

import { CommandError } from '../command-error.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { assertOneOutput, followCommand } from './follow-command.ts'
import { SignalInbox } from '../../terminal/signal-inbox.ts'

import type { TuttiClient } from '@tutti/client'
import type { CommandContext } from '../command-context.ts'
import type { FollowCommandOptions } from './follow-options.ts'

/** Options of `tutti watch`. */
export interface WatchCommandOptions extends TargetOptions, FollowCommandOptions {
  readonly from?: number
}

/** Follows the run, or the newest unfinished run. */
export async function watchRun(
  named: string | undefined,
  options: WatchCommandOptions,
  context: CommandContext,
): Promise<void> {
  const { io } = context
  assertOneOutput(options)
  const client = connectTo(options, context)
  const runId = named ?? (await findNewestRun(client))
  if (named === undefined) io.stderr.write(`Watching ${runId}\n`)
  const { lastSeq } = await client.runs.get(runId)
  const { from = 0 } = options
  using signals = new SignalInbox(io)
  context.exit = await followCommand({
    client,
    io,
    runId,
    options,
    from: from < 0 ? Math.max(0, lastSeq + 1 + from) : from,
    liveFrom: lastSeq,
    onSignal: 'leave',
    signals,
  })
}

async function findNewestRun(client: TuttiClient): Promise<string> {
  const { runs } = await client.runs.list({ status: UNFINISHED_RUN_STATUS_LIST, limit: 1 })
  const [newest] = runs
  if (newest !== undefined) return newest.runId
  throw new CommandError('REFUSED', 'There is no unfinished run', [
    'Start one: tutti run',
    'For ended runs: tutti runs, then tutti watch <id>',
  ])
}
