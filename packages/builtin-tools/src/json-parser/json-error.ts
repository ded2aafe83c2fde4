/** The error of invalid JSON or of a path without a value; its message is for the model. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
}

/** Maximum number of characters of the model's text that a message quotes. */
const SHOWN_LENGTH = 100

/** Returns the start of a text of the model, for a message. */
export function shorten(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}
