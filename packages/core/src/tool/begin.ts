/**
 * Notification that the body of a tool is about to act. Tools of this package send it themselves, once their input is valid
 * and their reviewer has agreed; any other tool begins when it is called.
 */
import type { AgentTool, ToolContext } from './tool.ts'

/** Symbol shared by all copies of this package. */
export const BEGIN = Symbol.for('tutti.begin')

/** Context that is notified when the body begins. */
export interface BeginContext {
  /** The body waits for the returned promise; an error or a rejection prevents the body from running. */
  [BEGIN](): Promise<void> | undefined
}

/** Marks a `call` that notifies its context when its body begins. */
export function markReportsBegin(call: AgentTool['call']): AgentTool['call'] {
  return Object.assign(call, { [BEGIN]: true })
}

/** Whether the tool notifies its context when its body begins. */
export function reportsOwnBegin({ call }: AgentTool): boolean {
  return BEGIN in call
}

/** Notifies the context that the body begins; the body waits for the returned promise. */
export function reportBegin(
  context: ToolContext | (ToolContext & BeginContext),
): Promise<void> | undefined {
  return BEGIN in context ? context[BEGIN]() : undefined
}
