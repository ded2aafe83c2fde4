/** Formats the reasons of close frames. Pure. */

/** Maximum size of the reason in a close frame, in bytes. @see https://www.rfc-editor.org/rfc/rfc6455#section-5.5 */
const MAX_BYTES = 123

/** Appends the id of the last event sent, after which the client can resume; of an id that is too long, only its end. */
export function formatClosingReason(text: string, lastEventId: string): string {
  if (lastEventId === '') return text
  const start = `${text}; last event sent: `
  const room = MAX_BYTES - start.length
  const id = lastEventId.length <= room ? lastEventId : `~${lastEventId.slice(1 - room)}`
  return start + id
}
