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

/** A result of the functions below: its class is how it is told from output that only looks like one. */
class MadeToolResult implements ToolResult {
  readonly success: boolean
  readonly output: string
  declare readonly errorMessage?: string
  declare readonly structured?: unknown

  constructor(success: boolean, output: string) {
    this.success = success
    this.output = output
  }
}

/** The two ways to make a {@link ToolResult}. */
export const ToolResult = {
  /** A call that worked. */
  success(output: string, structured?: unknown): ToolResult {
    const result = new MadeToolResult(true, output)
    return structured === undefined ? result : Object.assign(result, { structured })
  },
  /** A call that did not. */
  failure(errorMessage: string): ToolResult {
    return Object.assign(new MadeToolResult(false, ''), { errorMessage })
  },
  /** Whether a value was made by `success` or `failure`, and does not only look like a result. */
  isMade(value: unknown): boolean {
    return value instanceof MadeToolResult
  },
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
