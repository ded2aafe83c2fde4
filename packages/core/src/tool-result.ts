/** What a tool call came to: text for the model, and the value behind it for programs. */
export interface ToolResult {
  /** False when the tool could not do what was asked; the model is told and may try again. */
  readonly success: boolean
  /** Text for the model; empty when the call failed. */
  readonly output: string
  /** Why it failed; present exactly when `success` is false. */
  readonly errorMessage?: string
  /** The result as a JSON value, when the tool has one. */
  readonly structured?: unknown
}

const made = new WeakSet<object>()

/** The two ways to make a {@link ToolResult}. */
export const ToolResult = {
  /** A call that worked. */
  success(output: string, structured?: unknown): ToolResult {
    return mark(
      structured === undefined ? { success: true, output } : { success: true, output, structured },
    )
  },
  /** A call that did not. */
  failure(errorMessage: string): ToolResult {
    return mark({ success: false, output: '', errorMessage })
  },
  /** Whether a value was made by `success` or `failure`, and does not only look like a result. */
  isMade(value: object): boolean {
    return made.has(value)
  },
}

function mark(result: ToolResult): ToolResult {
  made.add(result)
  return result
}

/** The text of a result that is sent to the model: its output, or `Error: …`. */
export function toModelText(result: ToolResult): string {
  return result.success
    ? result.output
    : `Error: ${result.errorMessage ?? 'Tool execution failed with no message'}`
}

/** Whether a value returned by a tool body is a {@link ToolResult} rather than plain output. */
export function isToolResult(value: unknown): value is ToolResult {
  return (
    typeof value === 'object' &&
    value !== null &&
    'success' in value &&
    typeof value.success === 'boolean' &&
    'output' in value &&
    typeof value.output === 'string'
  )
}
