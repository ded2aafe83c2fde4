/**
 * Removes data that must not be stored or read from the events of a run.
 *
 * RUNS-J1 Capture mode OFF stores no prompt: no message to a model, and no text that is only part of prompts (an
 *    agent's goal, background and context), and no reasoning of a model. Descriptions, answers, tool calls and inputs are stored,
 *    because a run cannot be listed, resumed or followed without them. The request of the run has prompts until its end (RUNS-J3
 *    in `log/erase-prompts.ts`).
 * RUNS-J2 Every other mode stores all data. The content of a trace is decided when the trace is read.
 */
import type { RunEvent } from '@tutti/protocol'
import type { CaptureMode } from '@tutti/protocol/internal'
import type { DurableJournal } from './group-commit.ts'

/** Returns an event without sensitive data; the same object if there is none. Must not throw. */
export type RedactEvent = (event: RunEvent) => RunEvent

/** Returns an event as it is stored; undefined for one that is not stored, which never has a step. */
export type FilterEvent = (event: RunEvent) => RunEvent | undefined

/**
 * Passes the events of a journal through `filter`. Steps are not changed: the engine resumes from them, and no reader
 * sees them. Each piece of a streamed text is redacted separately.
 */
export function redactedJournal(journal: DurableJournal, filter: FilterEvent): DurableJournal {
  return {
    emit: (event, step) => {
      const stored = filter(event)
      if (stored !== undefined) journal.emit(stored, step)
    },
    commit: (step, event) => journal.commit(step, event === undefined ? undefined : filter(event)),
    answer: (answer) => {
      journal.answer(answer)
    },
    flush: () => journal.flush(),
    get isFlushed() {
      return journal.isFlushed
    },
    get lastWriteNo() {
      return journal.lastWriteNo
    },
    detach: (reason) => {
      journal.detach(reason)
    },
  }
}

/** Returns a function that removes the data that the mode excludes, then applies `redact`. */
export function applyCaptureMode(mode: CaptureMode | undefined, redact: RedactEvent): FilterEvent {
  if (mode !== 'OFF') return redact
  return (event) => {
    const rest = withoutThoughts(event)
    return rest === undefined ? undefined : redact(rest)
  }
}

/** Removes prompts and reasoning. */
const withoutThoughts: FilterEvent = (event) => {
  switch (event.type) {
    case 'llm_iteration_started':
      return { ...event, messages: [] }
    case 'task_input':
      return { ...event, agentGoal: '', agentBackground: null, assembledContext: '' }
    case 'reasoning':
      return undefined
    case 'llm_iteration_completed': {
      const { reasoning: _, reasoningTruncated: __, ...rest } = event
      return rest
    }
    default:
      return event
  }
}
