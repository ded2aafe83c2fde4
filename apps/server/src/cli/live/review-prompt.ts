/** Asks a person at the terminal to decide a review. */
import { TuttiClientError } from '@tutti/client'

import { editText } from './edit-text.ts'
import {
  formatReviewQuestion,
  formatReviewHeading,
  REJECT_EFFECTS,
  reviewedText,
  subjectLines,
  type AskedReview,
} from './review-subject.ts'

import type { ReviewDecisionBody } from '@tutti/protocol'
import type { ReviewDecisionApplied, ReviewKind } from '@tutti/protocol/internal'
import type { CommandIo } from '../../terminal/command-io.ts'

export type { AskedReview } from './review-subject.ts'

type Prompts = typeof import('@clack/prompts')

/** `ANSWER` is an edit of a question, which is typed at the prompt. */
type Choice = ReviewDecisionBody['decision'] | 'ANSWER' | 'LATER'

interface PromptState {
  readonly review: AskedReview
  readonly io: CommandIo
  readonly signal: AbortSignal | undefined
  readonly prompts: Prompts
  /** Text of an edit that was not sent, or that the server rejected. */
  unsent: string | undefined
}

/** Options of `decideAtTerminal`. */
export interface DecideOptions {
  /** Aborts when the decision is no longer needed. */
  readonly signal?: AbortSignal
  /** Called for "Later", which differs from Escape and Ctrl-C for a command with more reviews. */
  readonly onLater?: () => void
  readonly decide: (decision: ReviewDecisionBody) => Promise<ReviewDecisionApplied>
}

/** Whether the command can prompt: standard input and standard error are terminals, and TERM is not `dumb`. */
export function canAskAtTerminal({
  stdin,
  stderr,
  variables,
}: Pick<CommandIo, 'stdin' | 'stderr' | 'variables'>): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && variables['TERM'] !== 'dumb'
}

/**
 * Shows the review on standard error, asks for a decision and sends it. If the server rejects the decision, the review
 * stays open: the reason is shown, and an edit can continue from its text. Returns undefined for "Later", Escape and
 * Ctrl-C, and when `signal` aborts.
 */
export async function decideAtTerminal(
  review: AskedReview,
  io: CommandIo,
  { signal, onLater, decide }: DecideOptions,
): Promise<ReviewDecisionApplied | undefined> {
  const prompts = await import('@clack/prompts')
  const isClosed = (): boolean => signal?.aborted === true
  if (isClosed()) return undefined
  const state: PromptState = { review, io, signal, prompts, unsent: undefined }
  prompts.note(subjectLines(review).join('\n'), formatReviewHeading(review), {
    output: io.stderr,
    format: (line) => line,
  })
  let next: Choice | undefined
  for (;;) {
    const choice = next ?? (await askChoice(state))
    next = undefined
    if (choice === 'LATER') onLater?.()
    if (choice === undefined || choice === 'LATER') break
    const decision = await completeDecision(choice, state)
    if (isClosed()) break
    if (decision === undefined) continue
    try {
      return await decide(decision)
    } catch (error) {
      if (!isRejectedDecision(error)) throw error
      prompts.log.error(error.message, { output: io.stderr })
      if (choice === 'ANSWER') next = choice
      else if (await wantsToEditAgain(decision, state)) next = decision.decision
    }
  }
  showUnsent(state)
  return undefined
}

/** Whether the server rejected the decision and the review is still open. */
function isRejectedDecision(error: unknown): error is TuttiClientError {
  return TuttiClientError.isInstance(error) && error.code === 'BAD_REQUEST'
}

async function wantsToEditAgain(
  { decision }: ReviewDecisionBody,
  { prompts, io, signal }: PromptState,
): Promise<boolean> {
  if (decision !== 'EDIT') return false
  const again = await prompts.confirm({
    message: 'Edit again, starting from your text?',
    input: io.stdin,
    output: io.stderr,
    ...(signal === undefined ? {} : { signal }),
  })
  return again === true
}

/** Prints an edit that was not sent, so that it is not lost. */
function showUnsent({ unsent, prompts, io }: PromptState): void {
  if (unsent === undefined) return
  prompts.note(unsent, 'Your edit was not sent', {
    output: io.stderr,
    format: (line) => line,
  })
}

/** Asks for a decision. Returns undefined when the prompt was cancelled. */
async function askChoice({
  review,
  io,
  signal,
  prompts,
}: PromptState): Promise<Choice | undefined> {
  const { select, isCancel } = prompts
  const choice = await select<Choice>({
    // The question itself is above.
    message: review.kind === 'QUESTION' ? 'Your decision' : formatReviewQuestion(review),
    options: listChoices(review),
    input: io.stdin,
    output: io.stderr,
    ...(signal === undefined ? {} : { signal }),
  })
  return isCancel(choice) ? undefined : choice
}

interface ListedChoice {
  readonly value: Choice
  readonly label: string
  readonly hint?: string
}

const APPROVE: ListedChoice = { value: 'CONTINUE', label: 'Approve' }

const editOf = (subject: string): ListedChoice => ({
  value: 'EDIT',
  label: `Edit the ${subject}…`,
  hint: 'opens your editor',
})

/** The choices that depend on the kind of the review; the first one is selected. */
const FIRST_CHOICES: Readonly<Record<ReviewKind, readonly ListedChoice[]>> = {
  TASK_INPUT: [APPROVE, editOf('task')],
  TASK_OUTPUT: [APPROVE, editOf('output')],
  TOOL_CALL: [APPROVE, editOf('input')],
  QUESTION: [
    { value: 'ANSWER', label: 'Answer…' },
    { value: 'EDIT', label: 'Answer in your editor…' },
    { value: 'CONTINUE', label: 'Continue without an answer' },
  ],
  EVENT: [
    { value: 'EDIT', label: 'Enter the data…', hint: 'opens your editor' },
    { value: 'CONTINUE', label: 'Continue without an event' },
  ],
  CLIENT_TOOL: [{ value: 'EDIT', label: 'Enter the result…', hint: 'opens your editor' }],
}

function listChoices(review: AskedReview): ListedChoice[] {
  const { kind } = review
  return [
    ...FIRST_CHOICES[kind],
    { value: 'REJECT', label: 'Reject…', hint: REJECT_EFFECTS[kind] },
    { value: 'EXIT_EARLY', label: 'End the run early', hint: 'finished outputs are preserved' },
    { value: 'LATER', label: 'Later' },
  ]
}

/** Asks for the details of a decision. Returns undefined when the reviewer backs out. */
async function completeDecision(
  choice: Exclude<Choice, 'LATER'>,
  state: PromptState,
): Promise<ReviewDecisionBody | undefined> {
  if (choice === 'EDIT') return askEdit(state)
  if (choice === 'ANSWER') return askAnswer(state)
  if (choice !== 'REJECT') return { decision: choice }
  const { io, signal, prompts } = state
  const feedback = await prompts.text({
    message: 'Feedback: what should be different?',
    validate: (text) => ((text ?? '').trim() === '' ? 'Feedback is required' : undefined),
    input: io.stdin,
    output: io.stderr,
    ...(signal === undefined ? {} : { signal }),
  })
  return prompts.isCancel(feedback) ? undefined : { decision: choice, feedback: feedback.trim() }
}

/** Asks for the answer to a question on one line. */
async function askAnswer(state: PromptState): Promise<ReviewDecisionBody | undefined> {
  const { io, signal, prompts, unsent } = state
  const answer = await prompts.text({
    message: 'Your answer',
    ...(unsent === undefined ? {} : { initialValue: unsent }),
    input: io.stdin,
    output: io.stderr,
    ...(signal === undefined ? {} : { signal }),
  })
  if (prompts.isCancel(answer)) return undefined
  state.unsent = answer
  return { decision: 'EDIT', revisedOutput: answer }
}

async function askEdit(state: PromptState): Promise<ReviewDecisionBody | undefined> {
  const { review, io, signal, prompts } = state
  const isJson = review.kind === 'TOOL_CALL'
  const original = review.kind === 'CLIENT_TOOL' ? '' : reviewedText(review)
  let text = state.unsent ?? original
  for (;;) {
    const result = await editText(text, { io, signal, ending: isJson ? 'json' : 'md' })
    if (result.kind === 'failed') {
      prompts.log.warn(result.message, { output: io.stderr })
      return undefined
    }
    if (result.text === original) {
      prompts.log.warn('The text is unchanged', { output: io.stderr })
      state.unsent = undefined
      return undefined
    }
    text = result.text
    state.unsent = text
    const problem = isJson ? jsonProblem(text) : undefined
    if (problem === undefined) return { decision: 'EDIT', revisedOutput: text }
    const again = await prompts.confirm({
      message: `${problem}. Edit again?`,
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
    return `Invalid JSON: ${error instanceof Error ? error.message : String(error)}`
  }
}
