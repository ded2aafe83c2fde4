/** An event as it is sent: made once however many readers it has. */
import type { LoggedRunEvent } from '@tutti/protocol'

const texts = new WeakMap<LoggedRunEvent, string>()
const bytes = new WeakMap<LoggedRunEvent, Buffer>()

/** `event` as JSON text. */
export function eventJson(event: LoggedRunEvent): string {
  const known = texts.get(event)
  if (known !== undefined) return known
  const text = JSON.stringify(event)
  texts.set(event, text)
  return text
}

/** `event` as JSON text in UTF-8. All readers share the bytes, so nobody may change them. */
export function eventBytes(event: LoggedRunEvent): Buffer {
  const known = bytes.get(event)
  if (known !== undefined) return known
  const encoded = Buffer.from(eventJson(event))
  bytes.set(event, encoded)
  return encoded
}
