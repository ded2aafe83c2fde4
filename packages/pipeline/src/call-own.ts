/** Calls the functions that the author of a pipeline wrote: adapters and predicates. */
import { TuttiError, type ToolContext } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

/** Return value of a function, or the message of its error. */
export type Called<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly message: string }

/**
 * Calls a function and awaits its result. `label` names it in the message, and in the log, which has the error itself.
 *
 * @throws {TuttiError} EXIT_EARLY and TOOL_CONFIGURATION, which the caller of the pipeline handles.
 * @throws the abort reason when the pipeline's call was aborted.
 */
export async function callOwn<Value>(
  call: () => Value | Promise<Value>,
  label: string,
  context: ToolContext,
): Promise<Called<Value>> {
  try {
    return { ok: true, value: await call() }
  } catch (error) {
    context.signal.throwIfAborted()
    if (endsPipeline(error)) throw error
    context.logger.warn(`${label} threw`, { callId: context.callId, error })
    return { ok: false, message: `${label} threw: ${errorMessage(error)}` }
  }
}

function endsPipeline(error: unknown): boolean {
  return (
    TuttiError.isInstance(error) &&
    (error.code === 'EXIT_EARLY' || error.code === 'TOOL_CONFIGURATION')
  )
}
