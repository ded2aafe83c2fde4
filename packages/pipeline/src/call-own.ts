/** Calling what the author of a pipeline wrote between the tools: adapters and predicates. */
import { errorMessage, TuttiError, type ToolContext } from '@tutti/core'

/** What it returned, or that it threw. */
export type Called<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly message: string }

/**
 * Calls it and waits; `who` names it in the message, and in the log where the error itself goes.
 *
 * @throws {TuttiError} EXIT_EARLY and TOOL_CONFIGURATION, which are for whoever called the pipeline.
 * @throws when it threw because the whole call was stopped.
 */
export async function callOwn<Value>(
  call: () => Value | Promise<Value>,
  who: string,
  context: ToolContext,
): Promise<Called<Value>> {
  try {
    return { ok: true, value: await call() }
  } catch (error) {
    context.signal.throwIfAborted()
    if (isForCaller(error)) throw error
    context.logger.warn(`${who} threw`, { callId: context.callId, error })
    return { ok: false, message: `${who} threw: ${errorMessage(error)}` }
  }
}

function isForCaller(error: unknown): boolean {
  return (
    TuttiError.isInstance(error) &&
    (error.code === 'EXIT_EARLY' || error.code === 'TOOL_CONFIGURATION')
  )
}
