/** Pure: what a person is asked by a review that is open. */
import type { RunEventOf } from '@tutti/protocol'

/** The question, with what it is about. */
export function questionOf({
  timing,
  prompt,
  taskName,
  taskOutput,
  taskDescription,
}: RunEventOf<'review_requested'>): string {
  const asked = prompt ?? undefined
  switch (timing) {
    case 'BEFORE_EXECUTION':
      return asked ?? `May "${taskName}" begin?`
    case 'DURING_EXECUTION':
      // Of a call, the description is what the tool asks.
      return asked ?? taskDescription
    case 'AFTER_EXECUTION':
      return `${asked ?? `Is this output of "${taskName}" to be taken?`}\n\n${taskOutput}`
  }
}
