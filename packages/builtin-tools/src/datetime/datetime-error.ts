/** A command that has no answer; its message is for the model. */
export class DatetimeError extends Error {
  override readonly name = 'DatetimeError'
}

/** Longest text of the model that a message repeats. */
const SHOWN_LENGTH = 80

/** A text of the model in a message. */
export function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text)
}
