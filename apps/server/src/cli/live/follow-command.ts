/** What `tutti run` and `tutti watch` have in common: to follow a run, say its result, and end as it has ended. */
import { isTerminalRunStatus, type RunState } from '@tutti/protocol'

import { CommandError } from '../command-error.ts'
import { canAskAtTerminal } from '../review-prompt.ts'
import { toTerminalJson, writeOut } from '../text/print.ts'
import { followToEnd, type FollowEnd, type FollowerOptions } from './follower.ts'
import { liveTerminal, makeDisplay } from './make-display.ts'
import { answerWords } from './plain-lines.ts'
import { toTerminalText } from './text-width.ts'

import type { TuttiClient } from '@tutti/client'
import type { CommandIo } from '../command-io.ts'
import type { Exit } from '../exit-codes.ts'
import type { FollowCommandOptions } from './follow-options.ts'

/** A run to follow. */
export interface FollowCommand extends Pick<FollowerOptions, 'onSignal' | 'liveFrom' | 'signals'> {
  readonly client: TuttiClient
  readonly io: CommandIo
  readonly runId: string
  readonly options: FollowCommandOptions
  /** First event to write or to tell of in plain lines, by its `seq`. */
  readonly from: number
}

/** Follows the run; gives how the command ends. @throws what the server refuses. */
export async function followCommand(command: FollowCommand): Promise<Exit> {
  const { io, runId, options, from } = command
  assertOneOutput(options)
  const isInteractive = liveTerminal(io, options) !== undefined && canAskAtTerminal(io)
  const hint =
    command.onSignal === 'cancel'
      ? 'Ctrl-C to cancel, or to leave'
      : 'Ctrl-C to leave; the run goes on'
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
  else sayLeft(end, command)
  return exitOf(end)
}

/** @throws {CommandError} USAGE when two documents would be written one into the other. */
export function assertOneOutput({
  json,
  events,
}: Pick<FollowCommandOptions, 'json' | 'events'>): void {
  if (json === true && events === true) {
    throw new CommandError('USAGE', '--json and --events cannot both have standard output')
  }
}

/** The output of the last task of the plan that gave one; empty when none did. */
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
    // A terminal would do what the text says; a file or a program gets it as it is.
    const shown = io.stdout.isTTY === true ? toTerminalText(text) : text
    // On one screen the summary is above it.
    if (io.stdout.isTTY === true && liveTerminal(io, options) !== undefined) io.stderr.write('\n')
    await writeOut(io, shown.endsWith('\n') ? shown : `${shown}\n`)
  }
}

function sayLeft({ kind, state }: FollowEnd, { io, runId }: FollowCommand): void {
  if (kind === 'left') io.stderr.write(`${runId} goes on; to see it: tutti watch ${runId}\n`)
  if (kind !== 'waiting') return
  const open = state.reviews.filter(({ status }) => status === 'OPEN')
  const lines = open.map(
    ({ taskName, reviewId }) =>
      `${toTerminalText(taskName)} waits for a review, ${answerWords(reviewId)}\n`,
  )
  io.stderr.write(lines.join(''))
}

function exitOf({ kind, state: { status } }: FollowEnd): Exit {
  if (kind === 'left') return 'INTERRUPTED'
  if (kind === 'waiting') return 'WAITING'
  if (!isTerminalRunStatus(status)) {
    throw new CommandError('UNREACHABLE', 'The events of the run ended before the run')
  }
  if (status === 'COMPLETED') return 'OK'
  return status === 'CANCELLED' ? 'CANCELLED' : 'FAILED'
}
