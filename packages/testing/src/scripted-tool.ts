/** A tool that answers from a list and records its calls, for tests of code that calls tools. */
import { defineTool, type ToolContext, type ToolResult, type TypedTool, Type } from '@tutti/core'

/** Answer of a scripted tool: text, a result, or an error to throw. */
export type ScriptedToolAnswer = string | ToolResult | Error

/** A tool that records its calls. */
export interface ScriptedTool extends TypedTool<Record<string, unknown>> {
  /** Inputs of the calls, in order. */
  readonly inputs: readonly Readonly<Record<string, unknown>>[]
  /** Contexts of the calls, in order. */
  readonly contexts: readonly ToolContext[]
}

/**
 * Creates a tool that accepts any object. It returns the answers in order and repeats the last one; an
 * `Error` is thrown.
 *
 * @throws {RangeError} if the list is empty.
 */
export function scriptedTool(
  name: string,
  answers: readonly ScriptedToolAnswer[] = ['ok'],
): ScriptedTool {
  if (answers.length === 0) throw new RangeError('Cannot create a tool without an answer')
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
