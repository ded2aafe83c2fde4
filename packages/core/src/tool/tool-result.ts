/** Result of a tool call: text for the model, and optionally a value for programs. */
export interface ToolResult {
  /** False when the call failed; the model gets the error and may try again. */
  readonly success: boolean
  /** Text for the model; empty when the call failed. */
  readonly output: string
  /** Reason of the failure; present exactly when `success` is false. */
  readonly errorMessage?: string
  /** The result as a JSON value, when the tool has one. */
  readonly structured?: unknown
}

/** Result of the functions below; the class distinguishes it from output of the same shape. */
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

/** Constructors of a {@link ToolResult}. */
export const ToolResult = {
  /** Returns the result of a successful call. */
  success(output: string, structured?: unknown): ToolResult {
    const result = new MadeToolResult(true, output)
    return structured === undefined ? result : Object.assign(result, { structured })
  },
  /** Returns the result of a failed call. */
  failure(errorMessage: string): ToolResult {
    return Object.assign(new MadeToolResult(false, ''), { errorMessage })
  },
  /** Whether `success` or `failure` created the value; false for other objects of the same shape. */
  isMade(value: unknown): boolean {
    return value instanceof MadeToolResult
  },
}

/** Returns the text of a result for the model: its output, or `Error: …`. */
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
