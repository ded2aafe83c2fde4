/** Pure: parts of earlier messages that are not text. */

/**
 * Returns the text that stands for a part of an earlier message that is not text. The request with such a part as its
 * newest message is refused, but a client sends the message again with every later request.
 */
export function describeLeftOutPart(type: string): string {
  return `[${type} left out: only text is supported]`
}
