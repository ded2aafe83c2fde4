/**
 * A journal that accepts events and steps of one run up to a number of bytes. An entry that exceeds a limit is not
 * written, nor is any later one. The run is notified once, so that it fails with the reason. The same happens after the
 * store has refused a write.
 */
import { TuttiError } from '@tutti/core'

import { runTooLarge } from '../domain/refusals.ts'
import { serializeOnce } from '../log/serialize-once.ts'

import type { RunJournal, RunStep } from '@tutti/ensemble/internal'
import type { RunEvent } from '@tutti/protocol'

/** Size limits of a run, and the callback for an exceeded limit. */
export interface JournalLimits {
  readonly runId: string
  /** Maximum size of the JSON of one event, in bytes. */
  readonly maxEventBytes: number
  /** Maximum size of the JSON of all events and steps together, in bytes. For streamed text only the text counts. */
  readonly maxStoredRunBytes: number
  /** Called once, with the reason: an exceeded limit, or that of `refuse`. */
  readonly onExceeded: (reason: TuttiError) => void
}

/** A journal that can be closed. */
export interface BoundedJournal extends RunJournal {
  /** Refuses later entries, as if a limit were exceeded; no effect when one has been. */
  refuse(reason: TuttiError): void
}

/** Wraps a journal with size limits. */
export function boundedJournal(
  journal: RunJournal,
  { runId, maxEventBytes, maxStoredRunBytes, onExceeded }: JournalLimits,
): BoundedJournal {
  let stored = 0
  let exceeded: TuttiError | undefined
  const refuse = (reason: TuttiError): TuttiError => {
    exceeded = reason
    onExceeded(reason)
    return reason
  }
  /** Returns the reason why the entry is refused; undefined when it is accepted. */
  const findRefusal = (event: RunEvent | undefined, step?: RunStep): TuttiError | undefined => {
    if (exceeded !== undefined) return exceeded
    const bytes = event === undefined ? 0 : measureEvent(event)
    if (bytes > maxEventBytes) return refuse(eventTooLarge({ runId, bytes, maxEventBytes }, event))
    stored += bytes + (step === undefined ? 0 : Buffer.byteLength(serializeOnce(step)))
    return stored > maxStoredRunBytes
      ? refuse(runTooLarge(runId, stored, maxStoredRunBytes))
      : undefined
  }
  return {
    emit(event, step) {
      if (findRefusal(event, step) === undefined) journal.emit(event, step)
    },
    commit(step, event) {
      const refusal = findRefusal(event, step)
      return refusal === undefined ? journal.commit(step, event) : Promise.reject(refusal)
    },
    refuse(reason) {
      if (exceeded === undefined) refuse(reason)
    },
  }
}

function measureEvent(event: RunEvent): number {
  if (event.type === 'token') return Buffer.byteLength(event.token)
  return Buffer.byteLength(event.type === 'reasoning' ? event.text : serializeOnce(event))
}

function eventTooLarge(
  sizes: { readonly runId: string; readonly bytes: number; readonly maxEventBytes: number },
  event: RunEvent | undefined,
): TuttiError {
  const { runId, bytes, maxEventBytes } = sizes
  return new TuttiError(
    'RUN_TOO_LARGE',
    `Event ${event?.type ?? ''} of run ${runId} has ${bytes} bytes; at most ${maxEventBytes} are allowed ` +
      `(maxEventBytes)`,
    { details: { bytes, maxBytes: maxEventBytes } },
  )
}
