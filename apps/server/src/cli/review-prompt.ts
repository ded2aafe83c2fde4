/** Asks a person at the terminal to decide a review. */
import { TuttiClientError } from '@tutti/client'

import { editText } from './live/edit-text.ts'
import {
  formatReviewQuestion,
  titleOf,
  REJECT_EFFECTS,
  reviewedText,
  subjectLines,
  type AskedReview,
} from './live/review-subject.ts'

import type { ReviewDecisionApplied, ReviewDecisionBody } from '@tutti/protocol'
import type { CommandIo } from './command-io.ts'

export type { AskedReview } from './live/review-subject.ts'

type Prompts = typeof import('@clack/prompts')

type Choice = ReviewDecisionBody['decision'] | 'LATER'

/** Where a person is asked, and until when. */
interface Asking {
  readonly review: AskedReview
  readonly io: CommandIo
  readonly signal: AbortSignal | undefined
  readonly prompts: Prompts
  /** Text of an edit that was not sent, or that the server refused. */
  unsent: string | undefined
}

/** Parts that ask for a decision and send it. */
export interface DecideOptions {
  /** Aborts when nothing is to be decided any more. */
  readonly signal?: AbortSignal
  readonly decide: (decision: ReviewDecisionBody) => Promise<ReviewDecisionApplied>
}

/** Whether somebody is there to be asked: a terminal to read from and one to write to. */
export function canAskAtTerminal({
  stdin,
  stderr,
  variables,
}: Pick<CommandIo, 'stdin' | 'stderr' | 'variables'>): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && variables['TERM'] !== 'dumb'
}

/**
 * Shows the review on standard error, asks for a decision and sends it. A decision that the server refuses leaves the
 * review open: the reason is shown, and an edit is opened again with its text. Undefined for later, Escape and Ctrl-C,
 * and when `signal` aborts.
 */
export async function decideAtTerminal(
  review: AskedReview,
  io: CommandIo,
  { signal, decide }: DecideOptions,
): Promise<ReviewDecisionApplied | undefined> {
  const prompts = await import('@clack/prompts')
  const isClosed = (): boolean => signal?.aborted === true
  if (isClosed()) return undefined
  const asking: Asking = { review, io, signal, prompts, unsent: undefined }
  prompts.note(subjectLines(review).join('\n'), titleOf(review), {
    output: io.stderr,
    format: (line) => line,
  })
  let next: Choice | undefined
  for (;;) {
    const choice = next ?? (await askChoice(asking))
    next = undefined
    if (choice === undefined || choice === 'LATER') break
    const decision = await complete(choice, asking)
    if (isClosed()) break
    if (decision === undefined) continue
    try {
      return await decide(decision)
    } catch (error) {
      if (!isRefusal(error)) throw error
      prompts.log.error(error.message, { output: io.stderr })
      if (await wantsAgain(decision, asking)) next = decision.decision
    }
  }
  showUnsent(asking)
  return undefined
}

/** Whether the server refused what was decided, and the review is still open. */
function isRefusal(error: unknown): error is TuttiClientError {
  return TuttiClientError.isInstance(error) && error.code === 'BAD_REQUEST'
}

async function wantsAgain(
  { decision }: ReviewDecisionBody,
  { prompts, io, signal }: Asking,
): Promise<boolean> {
  if (decision !== 'EDIT') return false
  const again = await prompts.confirm({
    message: 'Edit it again? Your text is kept',
    input: io.stdin,
    output: io.stderr,
    ...(signal === undefined ? {} : { signal }),
  })
  return again === true
}

/** Text that was written and not sent is not lost with the editor. */
function showUnsent({ unsent, prompts, io }: Asking): void {
  if (unsent === undefined) return
  prompts.note(unsent, 'Your edit was not sent', {
    output: io.stderr,
    format: (line) => line,
  })
}

/** What is decided; undefined when nobody is there any more. */
async function askChoice({ review, io, signal, prompts }: Asking): Promise<Choice | undefined> {
  const { select, isCancel } = prompts
  const choice = await select<Choice>({
    message: formatReviewQuestion(review),
    options: choicesOf(review),
    input: io.stdin,
    output: io.stderr,
    ...(signal === undefined ? {} : { signal }),
  })
  return isCancel(choice) ? undefined : choice
}

function choicesOf(review: AskedReview): { value: Choice; label: string; hint?: string }[] {
  const { timing } = review
  const subject =
    timing === 'AFTER_EXECUTION' ? 'output' : timing === 'BEFORE_EXECUTION' ? 'task' : 'input'
  return [
    { value: 'CONTINUE', label: 'Approve' },
    { value: 'EDIT', label: `Edit the ${subject}…`, hint: 'in your editor' },
    { value: 'REJECT', label: 'Reject…', hint: REJECT_EFFECTS[timing] },
    { value: 'EXIT_EARLY', label: 'End the run early', hint: 'what is done is kept' },
    { value: 'LATER', label: 'Later' },
  ]
}

/** The whole decision; undefined when the person has thought better of it. */
async function complete(
  choice: ReviewDecisionBody['decision'],
  asking: Asking,
): Promise<ReviewDecisionBody | undefined> {
  if (choice === 'EDIT') return edited(asking)
  if (choice !== 'REJECT') return { decision: choice }
  const { io, signal, prompts } = asking
  const words = await prompts.text({
    message: 'Why? Your words go to the agent',
    validate: (text) => ((text ?? '').trim() === '' ? 'Write what should be different' : undefined),
    input: io.stdin,
    output: io.stderr,
    ...(signal === undefined ? {} : { signal }),
  })
  return prompts.isCancel(words) ? undefined : { decision: choice, feedback: words.trim() }
}

async function edited(asking: Asking): Promise<ReviewDecisionBody | undefined> {
  const { review, io, signal, prompts } = asking
  const isJson = review.timing === 'DURING_EXECUTION'
  let text = asking.unsent ?? reviewedText(review)
  for (;;) {
    const result = await editText(text, { io, signal, ending: isJson ? 'json' : 'md' })
    if (result.kind === 'failed') {
      prompts.log.warn(result.message, { output: io.stderr })
      return undefined
    }
    if (result.text === reviewedText(review)) {
      prompts.log.warn('Nothing was changed', { output: io.stderr })
      asking.unsent = undefined
      return undefined
    }
    text = result.text
    asking.unsent = text
    const problem = isJson ? jsonProblem(text) : undefined
    if (problem === undefined) return { decision: 'EDIT', revisedOutput: text }
    const again = await prompts.confirm({
      message: `${problem}. Edit it again?`,
      input: io.stdin,
      output: io.stderr,
    })
    if (prompts.isCancel(again) || !again) return undefined
  }
}

function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `It must be JSON: ${error instanceof Error ? error.message : String(error)}`
  }
}
