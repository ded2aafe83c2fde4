/** Hands who calls through the MCP library, which knows callers as tokens. */
import { anyone, type Caller } from '../caller.ts'

import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'

/** A caller as the library takes it along; the key itself is not in it. */
export function authInfoOf(caller: Caller): AuthInfo {
  return {
    token: '',
    clientId: caller.name ?? '',
    scopes: [...caller.scopes],
    extra: { caller },
  }
}

/** Who sent the request that a handler answers. */
export function callerOf({ http }: Pick<ServerContext, 'http'>): Caller {
  const caller = http?.authInfo?.extra?.['caller']
  // NOTE: `authInfoOf` made it; a request without one comes from nowhere, and may do nothing.
  return caller === undefined ? { ...anyone(), scopes: new Set() } : (caller as Caller)
}
