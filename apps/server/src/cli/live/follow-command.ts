/** Common part of `tutti run` and `tutti watch`: follows a run, prints its result, and returns the outcome. */
import { isTerminalRunStatus, type RunState } from '@tutti/protocol'

import { CommandError } from '../command-error.ts'
import { canAskAtTerminal } from './review-prompt.ts'
import { toTerminalJson, writeOut } from '../../terminal/print.ts'
import { followToEnd, type FollowEnd, type FollowerOptions } from './follower.ts'
import { liveTerminal, makeDisplay } from './make-display.ts'
import { describeWait, formatDecideHint } from './wait-text.ts'
import { toTerminalText } from '../../terminal/text-width.ts'

import type { TuttiClient } from '@tutti/client'
import type { CommandIo } from '../../terminal/command-io.ts'
import type { Exit } from '../exit-codes.ts'
import type { FollowCommandOptions } from './follow-options.ts'

/** Run to follow. */
export interface FollowCommand extends Pick<FollowerOptions, 'onSignal' | 'liveFrom' | 'signals'> {
  readonly client: TuttiClient
  readonly io: CommandIo
  readonly runId: string
  readonly options: FollowCommandOptions
  /** `seq` of the first event to print, as JSON or in plain lines. */
  readonly from: number
}

/** Follows the run and returns the outcome. @throws {TuttiClientError} when the server refuses a request. */
export async function followCommand(command: FollowCommand): Promise<Exit> {
  const { io, runId, options, from } = command
  assertOneOutput(options)
  const isInteractive = liveTerminal(io, options) !== undefined && canAskAtTerminal(io)
  const hint =
    command.onSignal === 'cancel'
      ? 'Ctrl-C to cancel or leave'
      : 'Ctrl-C to leave; the run continues'
  const canAnswer = isInteractive && options.review
  const display = makeDisplay(io, options, {
    runId,
    from,
    canAnswer,
    hint: isInteractive ? hint : '',
  })
  const end = await followToEnd({
    ...command,
    display,
    isInteractive,
    leavesAtReview: !options.review,
    eventsFrom: options.events === true ? from : undefined,
    maxReconnects: options.maxReconnects ?? Infinity,
  })
  if (end.kind === 'over') await writeResult(end.state, command)
  else printLeaving(end, command)
  return toExit(end)
}

/** @throws {CommandError} USAGE when both options would write to standard output. */
export function assertOneOutput({
  json,
  events,
}: Pick<FollowCommandOptions, 'json' | 'events'>): void {
  if (json === true && events === true) {
    throw new CommandError(
      'USAGE',
      '--json and --events cannot be combined: both write to standard output',
    )
  }
}

/** Returns the output of the last planned task that has one; empty when none has. */
export function findFinalOutput({ outputs = [], tasks }: RunState): string {
  const planned = new Set(
    tasks.flatMap(({ name, delegatedBy }) => (delegatedBy === undefined ? [name] : [])),
  )
  return outputs.findLast(({ taskName }) => planned.has(taskName))?.output ?? ''
}

async function writeResult(
  state: RunState,
  { client, io, runId, options }: FollowCommand,
): Promise<void> {
  if (options.events === true) return
  if (options.json === true) {
    await writeOut(io, `${toTerminalJson(await client.runs.get(runId), 2)}\n`)
  } else if (state.status === 'COMPLETED') {
    const text = findFinalOutput(state)
    // A terminal would act on control characters; files and pipes get the text unchanged.
    const shown = io.stdout.isTTY === true ? toTerminalText(text) : text
    // The line break separates the result from the summary.
    if (io.stdout.isTTY === true && liveTerminal(io, options) !== undefined) io.stderr.write('\n')
    await writeOut(io, shown.endsWith('\n') ? shown : `${shown}\n`)
  }
}

function printLeaving({ kind, state }: FollowEnd, { io, runId }: FollowCommand): void {
  if (kind === 'left') io.stderr.write(`${runId} continues. To follow it: tutti watch ${runId}\n`)
  if (kind !== 'waiting') return
  const open = state.reviews.filter(({ status }) => status === 'OPEN')
  const lines = open.map((review) => {
    const what = describeWait(review) ?? 'waiting for review'
    const hint = formatDecideHint(review)
    return `${toTerminalText(review.taskName)} is ${what}${hint === undefined ? '' : `, ${hint}`}\n`
  })
  io.stderr.write(lines.join(''))
}

function toExit({ kind, state: { status } }: FollowEnd): Exit {
  if (kind === 'left') return 'INTERRUPTED'
  if (kind === 'waiting') return 'WAITING'
  if (!isTerminalRunStatus(status)) {
    throw new CommandError('UNREACHABLE', 'The event stream ended before the run')
  }
  if (status === 'COMPLETED') return 'OK'
  return status === 'CANCELLED' ? 'CANCELLED' : 'FAILED'
}
