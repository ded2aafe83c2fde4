/** Reviewer of a run that another run or agent started: it asks the reviewer of the caller. */
import { Type, TuttiError, type TSchema } from '@tutti/core'
import type { Answer } from '@tutti/core/internal'

import type { OpenReview, ReviewAnswer, RunReviewer } from '../ports/run-reviewer.ts'
import type { LocalAgentRequest } from '@tutti/agent-call/internal'

/** Passes each review to the reviewer of the caller as a question. */
export class CallerReviewer implements RunReviewer {
  readonly #ensemble: string
  readonly #ask: LocalAgentRequest['requestAnswer']
  #exit: TuttiError | undefined

  constructor(ensemble: string, { requestAnswer }: Pick<LocalAgentRequest, 'requestAnswer'>) {
    this.#ensemble = ensemble
    this.#ask = requestAnswer
  }

  /** Error with which the caller's reviewer ended the caller's run early; undefined if it did not. */
  get exit(): TuttiError | undefined {
    return this.#exit
  }

  /**
   * See {@link RunReviewer}. The run enforces the time limit of the review; when the question times out, this
   * does not decide.
   */
  async decide(review: OpenReview, signal: AbortSignal): Promise<ReviewAnswer> {
    try {
      const { timeoutMs, requiredRole } = review
      const schema: TSchema = review.approval?.inputSchema ?? Type.String()
      const question = describeReview(this.#ensemble, review)
      const answer = await this.#ask(question, {
        schema,
        timeoutMs,
        onTimeout: 'CONTINUE',
        ...(requiredRole === undefined ? {} : { requiredRole }),
        signal,
      })
      if (!answer.answered && answer.timedOut) return await waitForAbort(signal)
      return toDecision(review, answer)
    } catch (error) {
      if (!TuttiError.isInstance(error)) throw error
      if (error.code === 'EXIT_EARLY') {
        this.#exit = error
        return { action: 'EXIT_EARLY' }
      }
      if (error.code !== 'TOOL_REJECTED') throw error
      const feedback = error.details?.['feedback']
      return typeof feedback === 'string' ? { action: 'REJECT', feedback } : { action: 'REJECT' }
    }
  }
}

function describeReview(
  ensemble: string,
  { kind, timing, taskName, taskDescription, taskOutput, prompt }: OpenReview,
): string {
  if (kind === 'QUESTION' && prompt !== undefined) return prompt
  const where = `task "${taskName}" of "${ensemble}"`
  const head = prompt === undefined ? '' : `${prompt}\n`
  switch (timing) {
    case 'BEFORE_EXECUTION':
      return `${head}May ${where} begin? ${taskDescription}`
    case 'DURING_EXECUTION':
      return `${head}In ${where}: ${taskDescription}`
    case 'AFTER_EXECUTION':
      return `${head}Is this output of ${where} right?\n${taskOutput}`
  }
}

function toDecision({ timing }: OpenReview, answer: Answer<unknown>): ReviewAnswer {
  if (!answer.answered) return { action: 'CONTINUE' }
  if (timing === 'DURING_EXECUTION') return { action: 'EDIT', input: answer.value }
  return { action: 'EDIT', text: String(answer.value) }
}

/** Waits until the review is closed. */
function waitForAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => {
      reject(new DOMException('The review is closed', 'AbortError'))
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
