/**
 * A journal that takes events and steps of one run up to a number of bytes. What exceeds a limit is not written,
 * and neither is anything after it; the run is told once, so that it fails and says why.
 */
import { TuttiError } from '@tutti/core'

import { runTooLarge } from '../refusals.ts'

import type { RunJournal, RunStep } from '@tutti/ensemble'
import type { RunEvent } from '@tutti/protocol'

/** Limits of a run and who is told. */
export interface JournalLimits {
  readonly runId: string
  /** Bytes of JSON of one event. */
  readonly maxEventBytes: number
  /** Bytes of JSON of all events and steps together; of tokens only the text is counted. */
  readonly maxStoredRunBytes: number
  /** Called once, with the reason. */
  readonly onExceeded: (reason: TuttiError) => void
}

/** The journal for the engine. */
export function boundedJournal(
  journal: RunJournal,
  { runId, maxEventBytes, maxStoredRunBytes, onExceeded }: JournalLimits,
): RunJournal {
  let stored = 0
  let exceeded: TuttiError | undefined
  const refuse = (reason: TuttiError): TuttiError => {
    exceeded = reason
    onExceeded(reason)
    return reason
  }
  /** Reason why the entry is refused; undefined when it is accepted. */
  const refusalOf = (event: RunEvent | undefined, step?: RunStep): TuttiError | undefined => {
    if (exceeded !== undefined) return exceeded
    const bytes = event === undefined ? 0 : eventBytes(event)
    if (bytes > maxEventBytes) return refuse(eventTooLarge({ runId, bytes, maxEventBytes }, event))
    stored += bytes + (step === undefined ? 0 : jsonBytes(step))
    return stored > maxStoredRunBytes
      ? refuse(runTooLarge(runId, stored, maxStoredRunBytes))
      : undefined
  }
  return {
    emit(event, step) {
      if (refusalOf(event, step) === undefined) journal.emit(event, step)
    },
    commit(step, event) {
      const refusal = refusalOf(event, step)
      return refusal === undefined ? journal.commit(step, event) : Promise.reject(refusal)
    },
  }
}

function eventBytes(event: RunEvent): number {
  return event.type === 'token' ? Buffer.byteLength(event.token) : jsonBytes(event)
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

function eventTooLarge(
  sizes: { readonly runId: string; readonly bytes: number; readonly maxEventBytes: number },
  event: RunEvent | undefined,
): TuttiError {
  const { runId, bytes, maxEventBytes } = sizes
  return new TuttiError(
    'RUN_TOO_LARGE',
    `Event ${event?.type ?? ''} of run ${runId} has ${bytes} bytes, at most ${maxEventBytes} are allowed ` +
      `(maxEventBytes)`,
    { details: { bytes, maxBytes: maxEventBytes } },
  )
}
