/** Takes out of the events of a run what nobody is to read, before they are kept. */
import type { DurableJournal } from './group-commit.ts'
import type { RunEvent } from '@tutti/protocol'

/** Gives an event without what nobody is to read; the same one when it has nothing of it. Never throws. */
export type RedactEvent = (event: RunEvent) => RunEvent

/**
 * A journal whose events go through `redact`. Run steps stay as they are: the engine goes on from them,
 * and no reader sees them. Of text that comes in pieces, each piece is looked at by itself.
 */
export function redactedJournal(journal: DurableJournal, redact: RedactEvent): DurableJournal {
  return {
    emit: (event, step) => {
      journal.emit(redact(event), step)
    },
    commit: (step, event) => journal.commit(step, event === undefined ? undefined : redact(event)),
    answer: (answer) => {
      journal.answer(answer)
    },
    flush: () => journal.flush(),
    get isFlushed() {
      return journal.isFlushed
    },
    detach: (reason) => {
      journal.detach(reason)
    },
  }
}
