/**
 * Brings the reviews of a run to the person at the MCP client that called for the run.
 *
 *   2026-07-28   review ─▶ the call ends with a form ─▶ it is made again with the answer, and goes on
 *   2025-11-25   review ─▶ a question over the open stream, while the call goes on
 *   no forms     review ─▶ a note that says where it can be decided
 *
 * G1 Whoever decides first decides: a review that is decided elsewhere takes its question back.
 * G2 An answer that cannot be taken leaves the review open, and the person is asked again with the reason.
 * G3 A person who does not want to decide here is not asked again; the review waits as any other.
 */
import { inputRequired, type InputRequiredResult } from '@modelcontextprotocol/server'

import { decideGate, type GateDesk } from './decide-gate.ts'
import { gateForm } from './gate-form.ts'

import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/server'
import type { RunEvent } from '@tutti/protocol'
import type { ReviewRecord } from '@tutti/runs'

/** What becomes of the reviews of one run during a call. */
export interface Gates {
  /** A review opened; what the call has to end with for it, or undefined when it goes on. */
  opened(seq: number): Promise<InputRequiredResult | undefined>
  /** Something happened in the run. */
  see(event: RunEvent): void
  /** The call is over. */
  end(): void
}

/** For clients that have no forms: nothing is asked. */
export const NO_GATES: Gates = {
  opened: () => Promise.resolve(undefined),
  see: () => undefined,
  end: () => undefined,
}

/** What the rounds of a call begin with. */
export interface Rounds extends GateDesk {
  readonly runId: string
  readonly declined: readonly string[]
  /** The answers of the client, by review. */
  readonly responses: Readonly<Record<string, unknown>>
  /** Seals where the call is. */
  readonly mint: (seq: number, declined: readonly string[]) => Promise<string>
}

/** Ends a round with the forms of what is open, once the answers of the one before are taken. */
export async function roundGates({ responses, mint, ...desk }: Rounds): Promise<Gates> {
  const { runs } = desk.options
  const { runId } = desk
  const declined = new Set(desk.declined)
  const problems = new Map<string, string>()
  const isAnswered = Object.keys(responses).length > 0
  for (const review of isAnswered ? await runs.openReviews({ runId }) : []) {
    const { reviewId } = review
    const answer = elicitedBy(responses[reviewId])
    if (answer === undefined) continue
    if (answer.action === 'accept') {
      const problem = await decideGate(desk, review, answer.content)
      if (problem !== undefined) problems.set(reviewId, problem)
    } else declined.add(reviewId)
  }
  return {
    ...NO_GATES,
    async opened(seq) {
      const open = await runs.openReviews({ runId })
      const asked = open.filter(({ reviewId }) => !declined.has(reviewId))
      if (asked.length === 0) return undefined
      const forms = asked.map(({ reviewId, request }) => {
        const form = inputRequired.elicit(gateForm(request, problems.get(reviewId)))
        return [reviewId, form] as const
      })
      return inputRequired({
        inputRequests: Object.fromEntries(forms),
        requestState: await mint(seq, [...declined]),
      })
    },
  }
}

/** An answer to a form; undefined for anything else. */
function elicitedBy(
  response: unknown,
): (Pick<ElicitResult, 'action'> & { content?: unknown }) | undefined {
  if (typeof response !== 'object' || response === null || !('action' in response)) return undefined
  const { action } = response
  if (action === 'accept') {
    return { action, content: 'content' in response ? response.content : undefined }
  }
  return action === 'decline' || action === 'cancel' ? { action } : undefined
}

/** A call whose client takes questions while it goes on. */
export interface LiveGates extends GateDesk {
  readonly runId: string
  /** Shows a form until it is answered or the signal aborts. */
  readonly elicit: (form: ElicitRequestFormParams, signal: AbortSignal) => Promise<ElicitResult>
}

/** How often a review is asked over one stream: a client that answers by itself could go on for ever. */
const MAX_ASKED = 5

/** Asks over the open stream. */
export function liveGates({ elicit, ...desk }: LiveGates): Gates {
  const asked = new Map<string, AbortController>()
  const ask = async (review: ReviewRecord, signal: AbortSignal): Promise<void> => {
    let problem: string | undefined
    for (let times = 0; times < MAX_ASKED; times += 1) {
      const { action, content } = await elicit(gateForm(review.request, problem), signal)
      if (action !== 'accept') return
      problem = await decideGate(desk, review, content)
      if (problem === undefined) return
    }
  }
  const close = (reviewId: string): void => {
    asked.get(reviewId)?.abort()
  }
  return {
    async opened() {
      const { runs, logger } = desk.options
      const { runId } = desk
      for (const review of await runs.openReviews({ runId })) {
        const { reviewId } = review
        if (asked.has(reviewId)) continue
        const question = new AbortController()
        asked.set(reviewId, question)
        ask(review, question.signal).catch((error: unknown) => {
          if (question.signal.aborted) return
          logger.warn('A review could not be asked over MCP', { runId, reviewId, error })
        })
      }
      return undefined
    },
    see(event) {
      if (
        event.type === 'review_decided' ||
        event.type === 'review_timed_out' ||
        event.type === 'review_withdrawn'
      ) {
        close(event.reviewId)
      }
    },
    end() {
      for (const reviewId of asked.keys()) close(reviewId)
    },
  }
}
