/** Pure: how stubs cut up what they stream, and read what they are sent. */
import type { StubReply, StubToolCall } from './provider-stub.ts'
import type { ModelUsage } from '@tutti/ensemble'

/** Characters in one piece of a tool call's arguments: cuts escapes and pairs of surrogates. */
const ARGUMENT_PIECE = 3

/** Text in pieces of one word each, spaces kept. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? []
}

/** The JSON text of a call's arguments in short pieces. */
export function argumentPieces({ arguments: given }: StubToolCall): readonly string[] {
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  const pieces: string[] = []
  for (let start = 0; start < text.length; start += ARGUMENT_PIECE) {
    pieces.push(text.slice(start, start + ARGUMENT_PIECE))
  }
  return pieces
}

/** The usage of an answer: the script's, else counted from the lengths. */
export function usageOf(reply: StubReply, body: object): ModelUsage {
  return (
    reply.usage ?? {
      inputTokens: tokens(JSON.stringify(body)),
      outputTokens: tokens((reply.text ?? '') + JSON.stringify(reply.toolCalls ?? '')),
    }
  )
}

/** What a stub signs a thought with: other for each text, so that a changed thought is found out. */
export function signatureOf(thought: string): string {
  return Buffer.from(`signed:${thought}`).toString('base64')
}

/** The fields of `value`; none when it is no object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** The items of `value`, each by its fields; none when it is no array. */
export function itemsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

function tokens(text: string): number {
  return Math.ceil(text.length / 4)
}
