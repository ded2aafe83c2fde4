/** A tool that answers from a list and records its calls, for tests of whoever calls tools. */
import { defineTool, type ToolContext, type ToolResult, type TypedTool, Type } from '@tutti/core'

/** The answer of a scripted tool: text, a result, or an error to throw. */
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
export function scriptedTool(
  name: string,
  answers: readonly ScriptedToolAnswer[] = ['ok'],
): ScriptedTool {
  if (answers.length === 0) throw new RangeError('Cannot make a tool without an answer')
  const inputs: Readonly<Record<string, unknown>>[] = []
  const contexts: ToolContext[] = []
  const tool = defineTool({
    name,
    description: `Answers from a list, as ${name}`,
    input: Type.Record(Type.String(), Type.Unknown()),
    execute(input, context) {
      const answer = answers[Math.min(inputs.length, answers.length - 1)] ?? ''
      inputs.push(input)
      contexts.push(context)
      if (answer instanceof Error) throw answer
      return answer
    },
  })
  return { ...tool, inputs, contexts }
}
