/** Asks a person at the terminal to decide a review. */
import { editText } from './live/edit-text.ts'
import {
  questionOf,
  titleOf,
  REJECT_DOES,
  reviewedText,
  subjectLines,
  type AskedReview,
} from './live/review-subject.ts'

import type { ReviewDecisionBody } from '@tutti/protocol'
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
}

/** Whether somebody is there to be asked: a terminal to read from and one to write to. */
export function canAsk({
  stdin,
  stderr,
  variables,
}: Pick<CommandIo, 'stdin' | 'stderr' | 'variables'>): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && variables['TERM'] !== 'dumb'
}

/**
 * Shows the review on standard error, and asks: approve, edit in the editor, reject with words, exit, or
 * later. Undefined for later, Escape and Ctrl-C, and when `signal` aborts as nothing is to be decided any more.
 */
export async function askForDecision(
  review: AskedReview,
  io: CommandIo,
  signal?: AbortSignal,
): Promise<ReviewDecisionBody | undefined> {
  const prompts = await import('@clack/prompts')
  const isClosed = (): boolean => signal?.aborted === true
  if (isClosed()) return undefined
  const asking: Asking = { review, io, signal, prompts }
  prompts.note(subjectLines(review).join('\n'), titleOf(review), {
    output: io.stderr,
    format: (line) => line,
  })
  for (;;) {
    const choice = await askChoice(asking)
    if (choice === undefined || choice === 'LATER') return undefined
    const decision = await complete(choice, asking)
    if (decision !== undefined || isClosed()) return decision
  }
}

/** What is decided; undefined when nobody is there any more. */
async function askChoice({ review, io, signal, prompts }: Asking): Promise<Choice | undefined> {
  const { select, isCancel } = prompts
  const choice = await select<Choice>({
    message: questionOf(review),
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
    { value: 'REJECT', label: 'Reject…', hint: REJECT_DOES[timing] },
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
    placeholder: 'leave it empty to say nothing',
    input: io.stdin,
    output: io.stderr,
    ...(signal === undefined ? {} : { signal }),
  })
  if (prompts.isCancel(words)) return undefined
  // What an empty line gives is not said to be a text.
  const feedback = (words ?? '').trim()
  return { decision: choice, ...(feedback === '' ? {} : { feedback }) }
}

async function edited({
  review,
  io,
  signal,
  prompts,
}: Asking): Promise<ReviewDecisionBody | undefined> {
  const isJson = review.timing === 'DURING_EXECUTION'
  let text = reviewedText(review)
  for (;;) {
    const result = await editText(text, { io, signal, ending: isJson ? 'json' : 'md' })
    if (result.kind === 'failed') {
      prompts.log.warn(result.message, { output: io.stderr })
      return undefined
    }
    if (result.text === reviewedText(review)) {
      prompts.log.warn('Nothing was changed', { output: io.stderr })
      return undefined
    }
    text = result.text
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
