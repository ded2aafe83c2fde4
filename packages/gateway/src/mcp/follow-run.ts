/**
 * Follows the run of a call until it has ended, or a person must decide a review.
 *
 *   events ─▶ progress · reviews · answer ─▶ result
 *
 * GW-F1 A call ends with the result of its run, or with a form.
 * GW-F2 A client that abandons its call cancels the run.
 * GW-F3 Progress grows and is reported before the result. A client that requested it gets a report at least every
 *    `heartbeatMs`, so that its timeout does not end a call whose run is active.
 */
import { runNotFound } from '../runs/find-run.ts'
import { runAnswer } from './answer.ts'
import { runNotes } from './events.ts'

import type { ReportProgress } from './caller.ts'
import type { CallReviews, ReviewContext } from './reviews.ts'
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import type { LoggedRunEvent } from '@tutti/protocol'

/** A run and the call that waits for it. */
export interface FollowedCall extends ReviewContext {
  /** Name of the task whose structured output is the run's. */
  readonly valueTask: string | undefined
  /** `seq` of the last event of an earlier round; -1 in the first. */
  readonly lastSeq: number
  readonly reviews: CallReviews
  /** Aborts when the client abandons the call. */
  readonly signal: AbortSignal
  /** Whether only an explicit cancel aborts the signal, not a lost connection. */
  readonly isExplicit: boolean
  /** Reports progress; undefined when the client did not ask for it. */
  readonly report: ReportProgress | undefined
}

/**
 * Follows a run and returns the result of the call.
 *
 * @throws {TuttiError} STORE_UNAVAILABLE when the events cannot be read, RUN_NOT_FOUND when the run was
 * deleted meanwhile.
 */
export async function followCall(
  followed: FollowedCall,
): Promise<CallToolResult | InputRequiredResult> {
  const { service, call, runId, signal, reviews, isExplicit } = followed
  const abandon = (): void => {
    void service.cancelAbandoned(call, runId, { isExplicit })
  }
  if (signal.aborted) abandon()
  else signal.addEventListener('abort', abandon, { once: true })
  const progress = createProgress(followed)
  try {
    return await followToEnd(followed, progress)
  } finally {
    signal.removeEventListener('abort', abandon)
    progress.stop()
    reviews.end()
  }
}

async function followToEnd(
  { service, runId, valueTask, lastSeq, reviews, signal }: FollowedCall,
  progress: Progress,
): Promise<CallToolResult | InputRequiredResult> {
  const answer = runAnswer(runId, valueTask)
  const waiting = lastSeq < 0 ? undefined : await reviews.opened(lastSeq)
  if (waiting !== undefined) return waiting
  for await (const events of service.options.runs.follow({ runId, from: 0, signal })) {
    for (const event of events) {
      await progress.report(event)
      reviews.see(event)
      answer.add(event)
    }
    const last = events.at(-1)?.seq ?? lastSeq
    const hasOpened = events.some(({ type, seq }) => type === 'review_requested' && seq > lastSeq)
    const result = answer.result() ?? (hasOpened ? await reviews.opened(last) : undefined)
    if (result !== undefined) return result
  }
  // The events of a run end before its result only when it was deleted, or the signal has aborted.
  throw runNotFound(runId)
}

interface Progress {
  report(event: LoggedRunEvent): Promise<void>
  stop(): void
}

/** Reports events after `lastSeq`, and a heartbeat when there are none. */
function createProgress({ service, report, lastSeq }: FollowedCall): Progress {
  if (report === undefined) return { report: () => Promise.resolve(), stop: () => undefined }
  const { clock, heartbeatMs } = service.options
  const notes = runNotes()
  let stopTimer = (): void => undefined
  const arm = (): void => {
    stopTimer()
    stopTimer = clock.after(heartbeatMs, () => {
      void report(notes.heartbeat())
      arm()
    })
  }
  arm()
  return {
    async report(event) {
      const note = notes.add(event)
      if (note === undefined || event.seq <= lastSeq) return
      arm()
      await report(note)
    },
    stop: () => {
      stopTimer()
    },
  }
}
