/** The client of a call: its caller, which the MCP SDK carries as a token, and the reports of progress that it gets. */
import { anyone, type Caller } from '../caller.ts'

import type { RunNote } from './events.ts'
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'

/** Returns a caller in the form that the SDK carries; without the key itself. */
export function toAuthInfo(caller: Caller): AuthInfo {
  return {
    token: '',
    clientId: caller.name ?? '',
    scopes: [...caller.scopes],
    extra: { caller },
  }
}

/** Returns the caller of the request that a handler answers. */
export function mcpCallerOf({ http }: Pick<ServerContext, 'http'>): Caller {
  const caller = http?.authInfo?.extra?.['caller']
  // NOTE: `authInfoOf` made it. A request without one may do nothing.
  return caller === undefined ? { ...anyone(), scopes: new Set() } : (caller as Caller)
}

/** Reports progress to a client. */
export type ReportProgress = (note: RunNote) => Promise<void>

/** Returns a function that reports progress; undefined when the client did not ask for it. */
export function progressReporter({ mcpReq }: ServerContext): ReportProgress | undefined {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  return async ({ progress, total, message }) => {
    const params = { progressToken, progress, message, ...(total === 0 ? {} : { total }) }
    try {
      await mcpReq.notify({ method: 'notifications/progress', params })
    } catch {
      // The client has gone: the signal of the call aborts too.
    }
  }
}
