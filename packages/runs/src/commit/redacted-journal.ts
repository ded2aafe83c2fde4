/**
 * Removes from the events of a run what must not be stored or read.
 *
 * RUNS-J1 Capture mode OFF stores no prompt: no message that a model is sent, and nothing that stands only in prompts, which
 *    is the goal and the background of an agent and the context that it is given. Descriptions, answers, tool calls
 *    and inputs are stored, because a run cannot be listed, resumed or followed without them.
 * RUNS-J2 Every other mode stores all of it; what a trace shows is decided when the trace is read.
 */
import type { CaptureMode, RunEvent } from '@tutti/protocol'
import type { DurableJournal } from './group-commit.ts'

/** Returns an event without what must not be read; the same one when nothing has to be removed. Never throws. */
export type RedactEvent = (event: RunEvent) => RunEvent

/**
 * Passes the events of a journal through `redact`. Run steps stay as they are: the engine resumes from them,
 * and no reader sees them. Of text that comes in pieces, each piece is redacted by itself.
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

/** Removes everything that the mode leaves out, then applies `redact`. */
export function capturing(mode: CaptureMode | undefined, redact: RedactEvent): RedactEvent {
  return mode === 'OFF' ? (event) => redact(withoutPrompts(event)) : redact
}

const withoutPrompts: RedactEvent = (event) => {
  switch (event.type) {
    case 'llm_iteration_started':
      return { ...event, messages: [] }
    case 'task_input':
      return { ...event, agentGoal: '', agentBackground: null, assembledContext: '' }
    default:
      return event
  }
}
