/** Finds the texts of events that can repeat the answer or the reasoning of a model. No I/O. */
import type { LoggedRunEvent } from '../schemas/run-event.ts'

/** Text that can repeat an earlier one of its stream. */
export interface RepeatableText {
  /** JSON Pointer of the text. */
  readonly at: string
  readonly taskName: string
  readonly text: string
}

/** Returns a copy of an event with these texts replaced, or the same event if it has none. */
export function mapTexts(
  event: LoggedRunEvent,
  map: (text: RepeatableText) => string,
): LoggedRunEvent {
  switch (event.type) {
    case 'llm_iteration_completed': {
      const { taskName, responseText, reasoning } = event
      const copy = { ...event }
      if (responseText !== undefined) {
        copy.responseText = map({ at: '/responseText', taskName, text: responseText })
      }
      if (reasoning !== undefined) {
        copy.reasoning = map({ at: '/reasoning', taskName, text: reasoning })
      }
      return copy
    }
    case 'review_requested': {
      const { taskName, taskOutput } = event
      return { ...event, taskOutput: map({ at: '/taskOutput', taskName, text: taskOutput }) }
    }
    case 'task_completed': {
      const { taskName, output } = event
      return { ...event, output: map({ at: '/output', taskName, text: output }) }
    }
    case 'run_result': {
      const outputs = event.outputs.map((entry, index) => {
        const { taskName, output } = entry
        return { ...entry, output: map({ at: `/outputs/${index}/output`, taskName, text: output }) }
      })
      return { ...event, outputs }
    }
    default:
      return event
  }
}
