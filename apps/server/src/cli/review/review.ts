/** What `tutti review` does. */
import { CommandError } from '../command-error.ts'
import { leftOf, formatReviewQuestion } from '../live/review-subject.ts'
import { canAskAtTerminal, decideAtTerminal } from '../review-prompt.ts'
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines, printText, say } from '../text/print.ts'
import { readGivenFile } from '../text/read-given.ts'
import { tableLines, type Column } from '../text/table.ts'

import type { TuttiClient } from '@tutti/client'
import type { PendingReview, ReviewDecisionApplied, ReviewDecisionBody } from '@tutti/protocol'
import type { CommandContext } from '../command-context.ts'
import type { CommandIo } from '../command-io.ts'

/** Which reviews are listed, or what is decided. */
export interface ReviewCommandSettings {
  readonly run?: string
  readonly approve?: boolean
  /** A file with the text that takes the place of the output. */
  readonly edit?: string
  readonly reject?: string
  readonly exit?: boolean
  readonly json?: boolean
}

type Options = TargetOptions & ReviewCommandSettings

const COLUMNS: readonly Column[] = [
  { title: 'REVIEW' },
  { title: 'RUN' },
  { title: 'ENSEMBLE' },
  { title: 'TASK' },
  { title: 'TIME' },
  { title: 'QUESTION' },
]

/** Lists the reviews, or decides the one with this id. */
export async function reviewCommand(
  id: string | undefined,
  options: Options,
  context: CommandContext,
): Promise<void> {
  const decision = await decisionOf(options, context.io)
  if (id !== undefined) await decide({ id, decision }, options, context)
  else if (decision === undefined) await listReviews(options, context)
  else {
    throw new CommandError('USAGE', 'A decision needs the id of a review', [
      'The reviews that wait: tutti review',
    ])
  }
}

async function listReviews(options: Options, context: CommandContext): Promise<void> {
  const { io } = context
  const { run: runId } = options
  const list = await connectTo(options, context).reviews.list(runId === undefined ? {} : { runId })
  if (options.json === true) {
    printJson(list, io)
  } else if (list.reviews.length === 0) {
    say('No review waits', io)
  } else {
    const now = Date.now()
    printLines(
      tableLines(
        COLUMNS,
        list.reviews.map((review) => rowOf(review, now)),
      ),
      io,
    )
  }
}

function rowOf(review: PendingReview, now: number) {
  return [
    { text: review.reviewId },
    { text: review.runId },
    { text: review.ensemble ?? '-' },
    { text: review.taskName ?? '-' },
    { text: leftOf(review, now) },
    { text: `${formatReviewQuestion(review)}${roleOf(review)}`, style: 'yellow' as const },
  ]
}

function roleOf({ requiredRole, mayDecide }: PendingReview): string {
  if (requiredRole === undefined) return ''
  return mayDecide === false ? ` (only for the role ${requiredRole})` : ` (role ${requiredRole})`
}

/** What the options decide; undefined when they leave it open. */
async function decisionOf(
  { approve = false, edit, reject, exit = false }: ReviewCommandSettings,
  io: CommandIo,
): Promise<ReviewDecisionBody | undefined> {
  if (approve) return { decision: 'CONTINUE' }
  if (exit) return { decision: 'EXIT_EARLY' }
  if (reject !== undefined) return { decision: 'REJECT', feedback: reject }
  if (edit === undefined) return undefined
  // Editors end a file with a line break that the text in it has not.
  const revisedOutput = (await readGivenFile(edit, io)).replace(/\r?\n$/, '')
  return { decision: 'EDIT', revisedOutput }
}

interface Decided {
  readonly id: string
  readonly decision: ReviewDecisionBody | undefined
}

async function decide({ id, decision }: Decided, options: Options, context: CommandContext) {
  const { io } = context
  const client = connectTo(options, context)
  const review = await findReview(client, id)
  if (decision === undefined && options.json === true) {
    printJson(waiting(review, id), io)
    return
  }
  // One that is not in the list is for the server to say: it was decided already, or never there.
  const applied =
    decision === undefined
      ? await ask(waiting(review, id), client, context)
      : await client.reviews.decide(review?.reviewId ?? id, decision)
  if (applied === undefined) {
    say('Nothing decided; the review is still open', io)
    context.exit = 'WAITING'
    return
  }
  if (options.json === true) printJson(applied, io)
  else printText(`${applied.reviewId} ${applied.decision}`, io)
}

/** The review with this id, or the only one of the run with this id; undefined when none waits. */
async function findReview(client: TuttiClient, id: string): Promise<PendingReview | undefined> {
  const { reviews } = await client.reviews.list()
  const found = reviews.find(({ reviewId }) => reviewId === id)
  const ofRun = reviews.filter(({ runId }) => runId === id)
  if (found !== undefined || ofRun.length <= 1) return found ?? ofRun[0]
  throw new CommandError('USAGE', `Run "${id}" has ${ofRun.length} reviews that wait`, [
    `Which of them: ${ofRun.map(({ reviewId }) => reviewId).join(', ')}`,
  ])
}

function waiting(review: PendingReview | undefined, id: string): PendingReview {
  if (review !== undefined) return review
  throw new CommandError('REFUSED', `No review "${id}" waits`, [
    'The reviews that wait: tutti review',
  ])
}

/** Asks as long as the review waits; somebody else may decide it, or its time may be over. */
async function ask(
  review: PendingReview,
  client: TuttiClient,
  { io }: CommandContext,
): Promise<ReviewDecisionApplied | undefined> {
  const { reviewId } = review
  if (!canAskAtTerminal(io)) {
    throw new CommandError('USAGE', 'Interactive review requires a terminal', [
      `Decide it with: tutti review ${reviewId} --approve | --edit FILE | --reject WORDS | --exit`,
    ])
  }
  const open = new AbortController()
  const asked = new AbortController()
  void untilClosed(client, review, asked.signal).then(() => open.abort())
  const applied = await decideAtTerminal(review, io, {
    signal: open.signal,
    decide: (decision) => {
      // The event of this decision closes the review too.
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

/** Resolves when the review does not wait any more; never when that cannot be followed, or `signal` aborts. */
async function untilClosed(
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
    // The decision itself will say what is wrong.
  }
  await new Promise(() => undefined)
}

/** Events after which a review does not wait any more. */
const CLOSING = ['review_decided', 'review_timed_out', 'review_withdrawn'] as const
