/**
 * Pure: what of a run is not stored at all, by its capture mode.
 *
 * C1 OFF stores no prompt: no message that a model is sent, and nothing that stands only in prompts, which is
 *    the goal and the background of an agent and the context that it is given. Descriptions, answers, tool
 *    calls and inputs are stored, as a run cannot be listed, resumed or followed without them.
 * C2 Every other mode stores all of it; what a trace shows of it is decided when the trace is read.
 */
import type { RedactEvent } from './redacted-journal.ts'
import type { CaptureMode } from '@tutti/protocol'

/** `redact`, after everything that the mode leaves out has been removed. */
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
