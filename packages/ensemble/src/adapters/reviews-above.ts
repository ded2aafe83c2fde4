/** The gates of a run as questions to the reviewer of whoever asked for the run. */
import { Type, TuttiError, type Answer, type TSchema } from '@tutti/core'

import type { Gate, GateDecision, RunReviewer } from '../ports/run-reviewer.ts'
import type { LocalAgentRequest } from '@tutti/agent-call'

/** A reviewer that asks the one above. */
export class CallerReviewer implements RunReviewer {
  readonly #ensemble: string
  readonly #ask: LocalAgentRequest['requestAnswer']
  #exit: TuttiError | undefined

  constructor(ensemble: string, { requestAnswer }: Pick<LocalAgentRequest, 'requestAnswer'>) {
    this.#ensemble = ensemble
    this.#ask = requestAnswer
  }

  /** What the reviewer above said to end the run above early; undefined when they did not. */
  get exit(): TuttiError | undefined {
    return this.#exit
  }

  /** See {@link RunReviewer}. The gate has a time limit of its own: when it is over, nothing is decided here. */
  async decide(gate: Gate, signal: AbortSignal): Promise<GateDecision> {
    try {
      const { timeoutMs, requiredRole } = gate
      const schema: TSchema = gate.approval?.inputSchema ?? Type.String()
      const question = describeReview(this.#ensemble, gate)
      const answer = await this.#ask(question, {
        schema,
        timeoutMs,
        onTimeout: 'CONTINUE',
        ...(requiredRole === undefined ? {} : { requiredRole }),
        signal,
      })
      if (!answer.answered && answer.timedOut) return await never(signal)
      return toDecision(gate, answer)
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
  { timing, taskName, taskDescription, taskOutput, prompt }: Gate,
): string {
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

function toDecision({ timing }: Gate, answer: Answer<unknown>): GateDecision {
  if (!answer.answered) return { action: 'CONTINUE' }
  if (timing === 'DURING_EXECUTION') return { action: 'EDIT', input: answer.value }
  return { action: 'EDIT', text: String(answer.value) }
}

/** Waits until nothing is to be decided any more. */
function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => {
      reject(new DOMException('The gate is closed', 'AbortError'))
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
