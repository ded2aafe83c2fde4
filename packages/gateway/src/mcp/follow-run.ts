/**
 * Stays with the run of a call until it has ended, or a person has to be asked.
 *
 *   events ─▶ notes to the client · gates · answer ─▶ result
 *
 * F1 The result comes when the run has ended, and says how it ended; there is no other end but a form.
 * F2 A client that gives up cancels the run, and only such a client does.
 * F3 Notes grow, and come before the result. A client that asked for notes hears something at least once in
 *    `heartbeatMs`, so that its time limit does not end a call that is at work.
 */
import { runNotFound } from '../runs/find-run.ts'
import { cancelAbandoned } from './cancel-abandoned.ts'
import { runAnswer } from './run-answer.ts'
import { runNotes, type RunNote } from './run-notes.ts'

import type { Caller } from '../caller.ts'
import type { GatewayOptions } from '../gateway-options.ts'
import type { Gates } from './gates.ts'
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import type { LoggedRunEvent } from '@tutti/protocol'

/** A run, and the call that waits for it. */
export interface FollowedRun {
  readonly options: GatewayOptions
  readonly caller: Caller
  readonly runId: string
  /** The task whose output as a value is that of the run. */
  readonly valueTask: string | undefined
  /** The last event that the client was told of in an earlier round; -1 in the first. */
  readonly toldSeq: number
  readonly gates: Gates
  /** Aborts when the client gives up. */
  readonly signal: AbortSignal
  /** Whether the signal aborts only when the client says so, and not when its connection is lost. */
  readonly isSaid: boolean
  /** Tells the client; undefined when it wants no notes. */
  readonly tell: ((note: RunNote) => Promise<void>) | undefined
}

/**
 * What the call is answered with.
 *
 * @throws {TuttiError} STORE_UNAVAILABLE when the events cannot be read, RUN_NOT_FOUND when the run was
 * deleted meanwhile.
 */
export async function followRun(
  followed: FollowedRun,
): Promise<CallToolResult | InputRequiredResult> {
  const { options, runId, signal, gates, caller, isSaid } = followed
  const giveUp = (): void => {
    void cancelAbandoned(options, { runId, caller, isSaid })
  }
  if (signal.aborted) giveUp()
  else signal.addEventListener('abort', giveUp, { once: true })
  const teller = notesTo(followed)
  try {
    return await endOf(followed, teller)
  } finally {
    signal.removeEventListener('abort', giveUp)
    teller.stop()
    gates.end()
  }
}

async function endOf(
  { options, runId, valueTask, toldSeq, gates, signal }: FollowedRun,
  teller: Teller,
): Promise<CallToolResult | InputRequiredResult> {
  const answer = runAnswer(runId, valueTask)
  const waiting = toldSeq < 0 ? undefined : await gates.opened(toldSeq)
  if (waiting !== undefined) return waiting
  for await (const events of options.runs.follow({ runId, from: 0, signal })) {
    for (const event of events) {
      await teller.tell(event)
      gates.see(event)
      answer.add(event)
    }
    const last = events.at(-1)?.seq ?? toldSeq
    const hasOpened = events.some(({ type, seq }) => type === 'review_requested' && seq > toldSeq)
    const result = answer.result() ?? (hasOpened ? await gates.opened(last) : undefined)
    if (result !== undefined) return result
  }
  // The events of a run end before its result only when it was deleted, or nobody listens any more.
  throw runNotFound(runId)
}

interface Teller {
  tell(event: LoggedRunEvent): Promise<void>
  stop(): void
}

/** Tells the client of what it has not heard yet, and now and then that nothing has happened. */
function notesTo({ options: { clock, heartbeatMs }, tell, toldSeq }: FollowedRun): Teller {
  if (tell === undefined) return { tell: () => Promise.resolve(), stop: () => undefined }
  const notes = runNotes()
  let stopTimer = (): void => undefined
  const arm = (): void => {
    stopTimer()
    stopTimer = clock.after(heartbeatMs, () => {
      void tell(notes.beat())
      arm()
    })
  }
  arm()
  return {
    async tell(event) {
      const note = notes.of(event)
      if (note === undefined || event.seq <= toldSeq) return
      arm()
      await tell(note)
    },
    stop: () => {
      stopTimer()
    },
  }
}
