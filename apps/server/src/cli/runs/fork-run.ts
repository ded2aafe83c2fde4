/** Runs `tutti fork`. */
import { randomUUID } from 'node:crypto'

import { CommandError } from '../command-error.ts'
import { parsePair } from '../submit/pairs.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines } from '../text/print.ts'

import type { ForkRunBody } from '@tutti/protocol'
import type { CommandContext } from '../command-context.ts'

/** Options of `tutti fork`. */
export interface ForkSettings {
  readonly at?: string
  readonly input?: readonly string[]
  readonly allowSideEffects?: boolean
  readonly json?: boolean
}

/**
 * Forks a run and prints the id of the fork.
 *
 * @throws {CommandError} USAGE without `--at`, and for an input that is not `key=value`.
 */
export async function fork(
  runId: string,
  { at, input = [], allowSideEffects, json = false, ...target }: TargetOptions & ForkSettings,
  context: CommandContext,
): Promise<void> {
  if (at === undefined) {
    throw new CommandError('USAGE', 'Specify the place: --at SEQ or --at TASK', [
      `The events of the run with their seq: tutti events ${runId} --json`,
    ])
  }
  const { io } = context
  const { runs } = connectTo(target, context)
  const body: ForkRunBody = {
    at: readPlace(at),
    inputs: Object.fromEntries(input.map((pair) => parsePair(pair, '--input'))),
    ...(allowSideEffects === undefined ? {} : { allowSideEffects }),
  }
  // With the key, a fork whose response was lost is repeated safely.
  const accepted = await runs.fork(runId, body, { idempotencyKey: randomUUID() })
  if (json) printJson(accepted, io)
  else printLines([[{ text: `${accepted.runId}  ${accepted.status}` }]], io)
}

/** Reads a sequence number, or else the name of a task. */
function readPlace(text: string): ForkRunBody['at'] {
  return /^\d{1,15}$/.test(text) ? Number(text) : { task: text }
}
