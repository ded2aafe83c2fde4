/** A tool that answers from a list and records its calls, for tests of whoever calls tools. */
import { type ToolContext, type ToolResult, type TypedTool } from '@tutti/core'
/** What a scripted tool answers: text, a result, or what it throws. */
export type ScriptedToolAnswer = string | ToolResult | Error
/** Tool that records what it was called with. */
export interface ScriptedTool extends TypedTool<Record<string, unknown>> {
  /** The inputs, in order. */
  readonly inputs: readonly Readonly<Record<string, unknown>>[]
  /** The contexts of the calls, in order. */
  readonly contexts: readonly ToolContext[]
}
/**
 * Makes a tool that takes any object. It gives the answers in order and repeats the last; an `Error` is
 * thrown.
 *
 * @throws {RangeError} when the list is empty.
 */
export declare function scriptedTool(
  name: string,
  answers?: readonly ScriptedToolAnswer[],
): ScriptedTool
