/** Runs `tutti fork`. */
import { randomUUID } from 'node:crypto'

import { CommandError } from '../command-error.ts'
import { parsePair } from '../submit/pairs.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines } from '../../terminal/print.ts'
import { readGiven } from '../submit/read-given.ts'
import { toPreviewLines } from './fork-preview-lines.ts'

import type { ForkBody } from '@tutti/client/internal'
import type { CommandContext } from '../command-context.ts'
import type { CommandIo } from '../../terminal/command-io.ts'

/** Options of `tutti fork`. */
export interface ForkSettings {
  readonly at?: string
  readonly input?: readonly string[]
  readonly result?: readonly string[]
  readonly directive?: readonly string[]
  readonly allowSideEffects?: boolean
  readonly preview?: boolean
  readonly json?: boolean
}

/**
 * Forks a run and prints the id of the fork; with `preview`, prints what the fork would do instead.
 *
 * @throws {CommandError} USAGE without `--at`, for an input or a result that is not `key=value`, and for a file that
 * cannot be read.
 */
export async function fork(
  runId: string,
  { preview = false, json = false, ...options }: TargetOptions & ForkSettings,
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const body = await readBody(runId, options, io)
  const { runs } = connectTo(options, context)
  if (preview) {
    const previewed = await runs.previewFork(runId, body)
    if (json) printJson(previewed, io)
    else printLines(toPreviewLines(previewed), io)
    return
  }
  // With the key, a fork whose response was lost is repeated safely.
  const accepted = await runs.fork(runId, body, { idempotencyKey: randomUUID() })
  if (json) printJson(accepted, io)
  else printLines([[{ text: `${accepted.runId}  ${accepted.status}` }]], io)
}

async function readBody(
  runId: string,
  { at, input = [], result = [], directive = [], allowSideEffects }: ForkSettings,
  io: CommandIo,
): Promise<ForkBody> {
  if (at === undefined) {
    throw new CommandError('USAGE', 'Specify where the fork starts: --at SEQ or --at TASK', [
      `The events of the run with their seq: tutti events ${runId} --json`,
    ])
  }
  const results: [task: string, output: string][] = []
  for (const pair of result) {
    const [task, output] = parsePair(pair, '--result')
    results.push([task, await readGiven(output, io)])
  }
  const directives: { content: string }[] = []
  for (const text of directive) directives.push({ content: await readGiven(text, io) })
  return {
    at: readStart(at),
    inputs: Object.fromEntries(input.map((pair) => parsePair(pair, '--input'))),
    ...(results.length === 0 ? {} : { results: Object.fromEntries(results) }),
    ...(directives.length === 0 ? {} : { directives }),
    ...(allowSideEffects === undefined ? {} : { allowSideEffects }),
  }
}

/** Reads a sequence number, or else the name of a task. */
function readStart(text: string): ForkBody['at'] {
  return /^\d{1,15}$/.test(text) ? Number(text) : { task: text }
}
