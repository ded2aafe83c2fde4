/** JSON that is none, or a path that leads nowhere; its message is for the model. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
}

/** Longest text of the model that a message repeats. */
const SHOWN_LENGTH = 100

/** The start of a text of the model, for a message. */
export function startOf(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}
