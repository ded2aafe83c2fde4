/** Client of a call: its caller, which the MCP SDK carries as auth info, and its progress reports. */
import { anyone, type Caller } from '../caller.ts'

import type { RunNote } from './events.ts'
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'

/** Converts a caller to the auth info of the SDK, without the key itself. */
export function toAuthInfo(caller: Caller): AuthInfo {
  return {
    token: '',
    clientId: caller.name ?? '',
    scopes: [...caller.scopes],
    extra: { caller },
  }
}

/** Returns the caller of a request. */
export function mcpCallerOf({ http }: Pick<ServerContext, 'http'>): Caller {
  const caller = http?.authInfo?.extra?.['caller']
  // NOTE: `toAuthInfo` created it. A request without it has no scope.
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
      // The client has disconnected: the signal of the call aborts too.
    }
  }
}
