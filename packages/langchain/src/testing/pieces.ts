/** Splits streamed text into pieces, and reads requests. Pure. */
import type { StubReply, StubToolCall } from './provider-stub.ts'
import type { ModelUsage } from '@tutti/ensemble/adapter'

/** Length of a piece of a tool call's arguments, in characters: it splits escapes and surrogate pairs. */
const ARGUMENT_PIECE = 3

/** Splits text into words, with their spaces. */
export function splitWords(text: string): readonly string[] {
  return text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? []
}

/** Splits the JSON text of a call's arguments into short pieces. */
export function argumentPieces({ arguments: given }: StubToolCall): readonly string[] {
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  const pieces: string[] = []
  for (let start = 0; start < text.length; start += ARGUMENT_PIECE) {
    pieces.push(text.slice(start, start + ARGUMENT_PIECE))
  }
  return pieces
}

/** Returns the usage of an answer: the script's, else counted from the lengths. */
export function readUsage(reply: StubReply, body: object): ModelUsage {
  return (
    reply.usage ?? {
      inputTokens: tokens(JSON.stringify(body)),
      outputTokens: tokens((reply.text ?? '') + JSON.stringify(reply.toolCalls ?? '')),
    }
  )
}

/** Returns the signature of a thought, which differs for each text, so that a changed thought is detected. */
export function signatureOf(thought: string): string {
  return Buffer.from(`signed:${thought}`).toString('base64')
}

/** Returns the fields of `value`; none when it is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** Returns the items of `value`, each by its fields; none when it is not an array. */
export function itemsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

function tokens(text: string): number {
  return Math.ceil(text.length / 4)
}
