/** Pure: what a client is told when its connection is closed. */

/** Bytes that a close frame holds besides its code. @see https://www.rfc-editor.org/rfc/rfc6455#section-5.5 */
const MAX_BYTES = 123

/** `text`, and after which event the client can go on; of an id that is too long only its end. */
export function formatClosingReason(text: string, lastEventId: string): string {
  if (lastEventId === '') return text
  const start = `${text}; last event sent: `
  const room = MAX_BYTES - start.length
  const id = lastEventId.length <= room ? lastEventId : `~${lastEventId.slice(1 - room)}`
  return start + id
}
