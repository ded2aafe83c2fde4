/** The error of an invalid command; its message is for the model. */
export class DatetimeError extends Error {
  override readonly name = 'DatetimeError'
}

/** Maximum number of characters of the model's text that a message quotes. */
const SHOWN_LENGTH = 80

/** Quotes text of the model for a message. */
export function quoteText(text: string): string {
  return JSON.stringify(text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text)
}
