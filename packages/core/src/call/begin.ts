/**
 * How a tool says that its body is about to do something. Tools made here say so themselves, when their
 * input fits and their reviewer has agreed; any other tool begins when it is called.
 */
import type { AgentTool, ToolContext } from '../tool.ts'

/** One symbol for all copies of this package. */
export const BEGIN = Symbol.for('tutti.begin')

/** A context that wants to know when the body begins. */
export interface BeginContext {
  /** The body waits for what this returns; what it throws, or rejects with, keeps the body from running. */
  [BEGIN](): Promise<void> | undefined
}

/** Marks a `call` that tells its context when its body begins. */
export function markReportsBegin(call: AgentTool['call']): AgentTool['call'] {
  return Object.assign(call, { [BEGIN]: true })
}

/** Whether the tool tells when its body begins. */
export function reportsOwnBegin({ call }: AgentTool): boolean {
  return BEGIN in call
}

/** Tells that the body begins; the body waits for what this returns. */
export function reportBegin(
  context: ToolContext | (ToolContext & BeginContext),
): Promise<void> | undefined {
  return BEGIN in context ? context[BEGIN]() : undefined
}
