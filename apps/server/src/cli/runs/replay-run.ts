/** Runs `tutti replay`. */
import { randomUUID } from 'node:crypto'

import { CommandError } from '../command-error.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines } from '../../terminal/print.ts'

import type { CommandContext } from '../command-context.ts'

/** Options of `tutti replay`. */
export interface ReplaySettings {
  readonly mode?: string
  readonly json?: boolean
}

/**
 * Replays a run, waits for the end of the replay and prints it.
 *
 * @throws {CommandError} USAGE for an unknown mode; FAILED with the difference when the replay fails.
 */
export async function replay(
  runId: string,
  { mode = 'frozen', json = false, ...target }: TargetOptions & ReplaySettings,
  context: CommandContext,
): Promise<void> {
  if (mode !== 'frozen' && mode !== 'models') {
    throw new CommandError('USAGE', `Unknown mode "${mode}". Expected frozen or models`)
  }
  const { io } = context
  const { runs } = connectTo(target, context)
  // With the key, a replay whose response was lost is repeated safely.
  const accepted = await runs.replay(runId, { mode }, { idempotencyKey: randomUUID() })
  const end = await runs.result(accepted.runId)
  if (json) printJson(end, io)
  else printLines([[{ text: `${end.runId}  ${end.status}` }]], io)
  if (end.status === 'COMPLETED') return
  const { code = end.status, error = `The replay is ${end.status}` } = end
  throw new CommandError('FAILED', `${code}: ${error}`)
}
