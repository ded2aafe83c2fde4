/** Progress of a call, told to its client. */
import type { RunNote } from './run-notes.ts'
import type { ServerContext } from '@modelcontextprotocol/server'

/** Sends notes to a client that asked for them; one that has gone hears nothing. Undefined when it asked for none. */
export function tellerOf({
  mcpReq,
}: ServerContext): ((note: RunNote) => Promise<void>) | undefined {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  return async ({ progress, total, message }) => {
    const params = { progressToken, progress, message, ...(total === 0 ? {} : { total }) }
    try {
      await mcpReq.notify({ method: 'notifications/progress', params })
    } catch {
      // The stream is closed, which the signal of the call says too.
    }
  }
}
