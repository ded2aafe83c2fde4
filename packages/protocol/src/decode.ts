/**
 * Conversion of an unknown value to a typed one, or to the list of its problems.
 *
 * Valid values are fast: each schema has a validator, compiled on first use, and of a union only the member that the value
 * names is compiled and run. Invalid values can be slow: `problems/describe-problems.ts` finds and describes every problem.
 *
 * PROTO-D1 Never throws, for any value: deep, cyclic, hostile.
 * PROTO-D2 Returns the value unchanged: no coercion, no defaults, no removed fields.
 * PROTO-D3 Generates no code in a page, where a content security policy without `unsafe-eval` would reject it; see
 *    `compiled-check.ts`.
 * PROTO-D4 Ends after a bounded number of steps, for any schema and value; a value that needs more is invalid for
 *    that reason.
 */
import type Type from 'typebox'
import { compiledCheck, type Check } from './compiled-check.ts'
import type { PatternEngine } from './check/pattern.ts'
import { narrowByTag } from './problems/choose-member.ts'
import { describeProblems } from './problems/describe-problems.ts'
import { hasReferences } from './problems/references.ts'
import type { Schema } from './schema-node.ts'
import { ClientMessage } from './messages/client-message.ts'
import { ServerMessage } from './messages/server-message.ts'
import type { Problem } from './schemas/problem.ts'
import type { Static } from './static.ts'
import { LoggedRunEvent, RunEvent } from './schemas/run-event.ts'

/** Typed value, or every problem of an invalid value. */
export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] }

export interface DecodeOptions {
  /** Check of the schema. @default the compiled check of the schema */
  readonly check?: Check | undefined
  /** Engine of the regular expressions, for a check that has one. @default the one of JavaScript */
  readonly patterns?: PatternEngine | undefined
}

/** Validates a value against a schema and returns it with its type. Never throws. */
export function decode<S extends Type.TSchema>(
  schema: S,
  value: unknown,
  { check, patterns }: DecodeOptions = {},
): Decoded<Static<S>> {
  try {
    // The check has proved the type, which TypeScript cannot derive from a schema value.
    if (check === undefined ? fits(schema, value) : passes(check, value))
      return { ok: true, value: value as Static<S> }
    const problems = describeProblems(schema, value, { patterns })
    return { ok: false, problems: problems.length > 0 ? problems : [UNEXPLAINED] }
  } catch (error) {
    return { ok: false, problems: [makeUncheckable(error)] }
  }
}

/** Decodes an event without its position. */
export function decodeRunEvent(value: unknown): Decoded<RunEvent> {
  return decode(RunEvent, value)
}

/** Decodes an event with its position, as stored and sent. */
export function decodeLoggedRunEvent(value: unknown): Decoded<LoggedRunEvent> {
  return decode(LoggedRunEvent, value)
}

/** Checks a WebSocket message of a client. It never throws. */
export function decodeClientMessage(value: unknown): Decoded<ClientMessage> {
  return decode(ClientMessage, value)
}

/** Checks a WebSocket message of a server. It never throws. */
export function decodeServerMessage(value: unknown): Decoded<ServerMessage> {
  return decode(ServerMessage, value)
}

const UNEXPLAINED: Problem = { path: '', message: 'does not match its schema' }

function fits(schema: object, value: unknown): boolean {
  const narrowed: Schema = hasReferences(schema) ? schema : narrowByTag(schema, value)
  return typeof narrowed === 'boolean' ? narrowed : passes(compiledCheck(narrowed), value)
}

function passes(check: Check, value: unknown): boolean {
  try {
    return check(value)
  } catch (error) {
    // The value is nested deeper than the stack: the bounded walk reports it.
    if (error instanceof RangeError) return false
    throw error
  }
}

function makeUncheckable(error: unknown): Problem {
  return { path: '', message: `cannot be checked: ${readReason(error)}` }
}

/** NOTE: a getter of the value can throw anything, also an error whose message cannot be read. */
function readReason(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error)
  } catch {
    return 'a part cannot be read'
  }
}
