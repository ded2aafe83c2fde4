/**
 * From an unknown value to a typed one, or to the list of its problems.
 *
 * The good way is fast: a validator per schema, compiled when first needed and kept. Of a union only
 * the member that the value names is compiled and run. The bad way may be slow: it looks for every
 * problem and says it in words (`problems/describe-problems.ts`).
 *
 * D1 Never throws, whatever the value: deep, cyclic, hostile.
 * D2 The value comes back as it is: no coercion, no defaults, nothing removed.
 * D3 Makes no code from text in a page, where a content security policy without `unsafe-eval` would refuse it;
 *    a check is made of functions there, see `closure-check.ts`.
 */
import type Type from 'typebox'
import { compiledCheck } from './compiled-check.ts'
import { narrowByTag } from './problems/choose-member.ts'
import { describeProblems } from './problems/describe-problems.ts'
import { hasReferences } from './problems/references.ts'
import type { Schema } from './problems/schema-node.ts'
import { ClientMessage } from './schemas/messages/client-message.ts'
import { ServerMessage } from './schemas/messages/server-message.ts'
import type { Problem } from './schemas/problem.ts'
import { LoggedRunEvent, RunEvent } from './schemas/run-event.ts'

/** The typed value, or every problem that keeps the value from being one. */
export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Checks a value against a schema and gives it back with its type. Never throws. */
export function decode<S extends Type.TSchema>(schema: S, value: unknown): Decoded<Type.Static<S>> {
  try {
    // The check has just proved the type, which TypeScript cannot see through a schema value.
    if (fits(schema, value)) return { ok: true, value: value as Type.Static<S> }
    const problems = describeProblems(schema, value)
    return { ok: false, problems: problems.length > 0 ? problems : [UNEXPLAINED] }
  } catch (error) {
    return { ok: false, problems: [makeUncheckable(error)] }
  }
}

/** Decodes an event without its position. */
export function decodeRunEvent(value: unknown): Decoded<RunEvent> {
  return decode(RunEvent, value)
}

/** Decodes an event of a log, as it is stored and sent. */
export function decodeLoggedRunEvent(value: unknown): Decoded<LoggedRunEvent> {
  return decode(LoggedRunEvent, value)
}

/** Decodes what a client sent over a WebSocket. */
export function decodeClientMessage(value: unknown): Decoded<ClientMessage> {
  return decode(ClientMessage, value)
}

/** Decodes what our server sent over a WebSocket. */
export function decodeServerMessage(value: unknown): Decoded<ServerMessage> {
  return decode(ServerMessage, value)
}

const UNEXPLAINED: Problem = { path: '', message: 'does not match its schema' }

function fits(schema: object, value: unknown): boolean {
  const narrowed: Schema = hasReferences(schema) ? schema : narrowByTag(schema, value)
  if (typeof narrowed === 'boolean') return narrowed
  try {
    return compiledCheck(narrowed)(value)
  } catch (error) {
    // A recursive schema on a value nested deeper than the stack: let the bounded walk report it.
    if (error instanceof RangeError) return false
    throw error
  }
}

function makeUncheckable(error: unknown): Problem {
  const reason = error instanceof Error ? error.message : String(error)
  return { path: '', message: `cannot be checked: ${reason}` }
}
