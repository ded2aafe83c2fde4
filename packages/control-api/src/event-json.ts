/** The JSON text of an event, made once however many readers it has. */
import type { LoggedRunEvent } from '@tutti/protocol'

const texts = new WeakMap<LoggedRunEvent, string>()

/** `event` as JSON text. */
export function eventJson(event: LoggedRunEvent): string {
  const known = texts.get(event)
  if (known !== undefined) return known
  const text = JSON.stringify(event)
  texts.set(event, text)
  return text
}
