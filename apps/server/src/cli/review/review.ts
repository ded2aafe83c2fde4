/** Runs `tutti review`. */
import { CommandError } from '../command-error.ts'
import { formatBuildWait, formatTimeLeft, formatReviewQuestion } from '../live/review-subject.ts'
import { canAskAtTerminal, decideAtTerminal } from '../live/review-prompt.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines, printText, printMessage } from '../../terminal/print.ts'
import { readGivenFile } from '../submit/read-given.ts'
import { tableLines, type Column } from '../../terminal/table.ts'

import type { TuttiClient } from '@tutti/client'
import type { PendingReview, ReviewDecisionBody } from '@tutti/protocol'
import type { ReviewDecisionApplied, ReviewKind } from '@tutti/protocol/internal'
import type { CommandContext } from '../command-context.ts'
import type { CommandIo } from '../../terminal/command-io.ts'
import type { Line } from '../../terminal/line.ts'

/** Options of `tutti review`. */
export interface ReviewCommandSettings {
  readonly run?: string
  /** Lists only reviews of this kind; all but calls of client tools when absent. */
  readonly kind?: ReviewKind
  readonly approve?: boolean
  /** Answer to a question. */
  readonly answer?: string
  /** File with the text that replaces the reviewed one. */
  readonly edit?: string
  readonly reject?: string
  readonly exit?: boolean
  /** Whether to list the open reviews on a terminal too, instead of asking. */
  readonly list?: boolean
  readonly json?: boolean
}

type Options = TargetOptions & ReviewCommandSettings

const COLUMNS: readonly Column[] = [
  { title: 'REVIEW' },
  { title: 'TIME' },
  { title: 'TASK' },
  { title: 'ENSEMBLE' },
  { title: 'RUN' },
]

/** Asks on a terminal for a decision on each open review, otherwise lists them; or decides the one with this id. */
export async function reviewCommand(
  id: string | undefined,
  options: Options,
  context: CommandContext,
): Promise<void> {
  const decision = await readDecision(options, context.io)
  if (id !== undefined) await decide({ id, decision }, options, context)
  else if (decision === undefined) await askOrList(options, context)
  else {
    throw new CommandError('USAGE', 'A decision needs the id of a review', [
      'List the open reviews: tutti review',
    ])
  }
}

async function askOrList(options: Options, context: CommandContext): Promise<void> {
  const { io } = context
  const { run: runId, kind } = options
  const list = await connectTo(options, context).reviews.list({
    ...(runId === undefined ? {} : { runId }),
    ...(kind === undefined ? {} : { kind }),
  })
  const decidable = list.reviews.filter(({ mayDecide }) => mayDecide !== false)
  const asks = options.list !== true && io.stdout.isTTY === true && canAskAtTerminal(io)
  if (options.json === true) printJson(list, io)
  else if (list.reviews.length === 0) printMessage('No open reviews', io)
  else if (asks && decidable.length > 0) await askInTurn(decidable, options, context)
  else printReviews(list.reviews, io)
}

/**
 * Asks for each review, oldest first. "Later" goes to the next one, as does a review that was decided meanwhile; Escape and
 * Ctrl-C end the command.
 */
async function askInTurn(
  reviews: readonly PendingReview[],
  options: Options,
  context: CommandContext,
): Promise<void> {
  for (const { reviewId: id } of reviews) {
    let isPutOff = false
    const onLater = (): void => {
      isPutOff = true
    }
    try {
      const isDecided = await decide({ id, decision: undefined, onLater }, options, context)
      if (!isDecided && !isPutOff) return
    } catch (error) {
      if (!(error instanceof CommandError) || error.exit !== 'REFUSED') throw error
      printMessage(error.message, context.io)
    }
  }
}

/** Prints two lines for each review: the second one is its question, so that no id pushes it off a narrow terminal. */
function printReviews(reviews: readonly PendingReview[], io: CommandIo): void {
  const now = Date.now()
  const [titles = [], ...rows] = tableLines(
    COLUMNS,
    reviews.map((review) => toRow(review, now)),
  )
  const questions = reviews.map((review): Line => [
    { text: `  ${formatReviewQuestion(review)}${formatRole(review)}`, style: 'yellow' },
  ])
  printLines([titles, ...rows.flatMap((row, index) => [row, questions[index] ?? []])], io)
}

function toRow(review: PendingReview, now: number) {
  return [
    { text: review.reviewId },
    { text: formatTimeLeft(review, now) },
    { text: review.taskName ?? '-' },
    { text: review.ensemble ?? '-' },
    { text: review.runId },
  ]
}

function formatRole({ requiredRole, mayDecide }: PendingReview): string {
  if (requiredRole === undefined) return ''
  return mayDecide === false ? ` (only for the role ${requiredRole})` : ` (role ${requiredRole})`
}

/** Reads the decision from the options; undefined when they contain none. */
async function readDecision(
  { approve = false, answer, edit, reject, exit = false }: ReviewCommandSettings,
  io: CommandIo,
): Promise<ReviewDecisionBody | undefined> {
  if (approve) return { decision: 'CONTINUE' }
  if (exit) return { decision: 'EXIT_EARLY' }
  if (answer !== undefined) return { decision: 'EDIT', revisedOutput: answer }
  if (reject !== undefined) return { decision: 'REJECT', feedback: reject }
  if (edit === undefined) return undefined
  // Editors add a line break at the end of a file.
  const revisedOutput = (await readGivenFile(edit, io)).replace(/\r?\n$/, '')
  return { decision: 'EDIT', revisedOutput }
}

interface Decided {
  readonly id: string
  readonly decision: ReviewDecisionBody | undefined
  readonly onLater?: () => void
}

/** Decides a review. Returns false if the person made no decision. */
async function decide(
  { id, decision, onLater }: Decided,
  options: Options,
  context: CommandContext,
): Promise<boolean> {
  const { io } = context
  const client = connectTo(options, context)
  const review = await findReview(client, id)
  if (decision === undefined && options.json === true) {
    printJson(assertOpen(review, id), io)
    return true
  }
  if (options.answer !== undefined && review !== undefined && review.kind !== 'QUESTION') {
    throw new CommandError('USAGE', `Review "${review.reviewId}" is not a question`, [
      `Decide it with: tutti review ${review.reviewId} --approve | --edit FILE | --reject FEEDBACK | --exit`,
    ])
  }
  // If the review is not in the list, the server reports whether it was decided already or never existed.
  const applied =
    decision === undefined
      ? await ask({ review: assertOpen(review, id), onLater }, client, context)
      : await client.reviews.decide(review?.reviewId ?? id, decision)
  if (applied === undefined) {
    printMessage('No decision was made; the review is still open', io)
    context.exit = 'WAITING'
    return false
  }
  if (options.json === true) printJson(applied, io)
  else printText(`${applied.reviewId} ${applied.decision}`, io)
  const { waitsForBuild } = applied
  if (waitsForBuild !== undefined && options.json !== true && review !== undefined) {
    printMessage(formatBuildWait(review.runId, waitsForBuild), io)
  }
  return true
}

/** Finds the open review with this id, or the only open one of the run with this id; undefined when there is none. */
async function findReview(client: TuttiClient, id: string): Promise<PendingReview | undefined> {
  const { reviews } = await client.reviews.list()
  const found = reviews.find(({ reviewId }) => reviewId === id)
  const ofRun = reviews.filter(({ runId }) => runId === id)
  if (found !== undefined || ofRun.length <= 1) return found ?? ofRun[0]
  throw new CommandError('USAGE', `Run "${id}" has ${ofRun.length} open reviews`, [
    `Choose one of: ${ofRun.map(({ reviewId }) => reviewId).join(', ')}`,
  ])
}

function assertOpen(review: PendingReview | undefined, id: string): PendingReview {
  if (review !== undefined) return review
  throw new CommandError('REFUSED', `No open review "${id}"`, [
    'List the open reviews: tutti review',
  ])
}

/** Asks while the review is open: another reviewer may decide it, or it may time out. */
async function ask(
  {
    review,
    onLater,
  }: { readonly review: PendingReview; readonly onLater: Decided['onLater'] | undefined },
  client: TuttiClient,
  { io }: CommandContext,
): Promise<ReviewDecisionApplied | undefined> {
  const { reviewId } = review
  if (!canAskAtTerminal(io)) {
    throw new CommandError('USAGE', 'Interactive review requires a terminal', [
      `Decide it with: tutti review ${reviewId} ${review.kind === 'QUESTION' ? '--answer TEXT' : '--approve'} | --edit FILE | --reject FEEDBACK | --exit`,
    ])
  }
  const open = new AbortController()
  const asked = new AbortController()
  void waitUntilClosed(client, review, asked.signal).then(() => open.abort())
  const applied = await decideAtTerminal(review, io, {
    signal: open.signal,
    ...(onLater === undefined ? {} : { onLater }),
    decide: (decision) => {
      // The event of this decision closes the review, too.
      asked.abort()
      return client.reviews.decide(reviewId, decision)
    },
  })
  asked.abort()
  if (applied === undefined && open.signal.aborted) {
    throw new CommandError('REFUSED', `Review "${reviewId}" is already closed`)
  }
  return applied
}

/** Resolves when the review is no longer open; never when its events cannot be read, or when `signal` aborts. */
async function waitUntilClosed(
  client: TuttiClient,
  { runId, reviewId }: PendingReview,
  signal: AbortSignal,
): Promise<void> {
  try {
    const events = [...CLOSING, 'run_result'] as const
    for await (const event of client.runs.events(runId, { events, signal })) {
      if (event.type === 'run_result' || event.reviewId === reviewId) return
    }
  } catch {
    // The decision will report the problem.
  }
  await new Promise(() => undefined)
}

/** Events that close a review. */
const CLOSING = ['review_decided', 'review_timed_out', 'review_withdrawn'] as const
