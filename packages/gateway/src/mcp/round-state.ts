/**
 * The state that a client carries from one round of a call to the next while a person fills in a form, because
 * 2026-07-28 has no sessions. It is signed like a ticket: every process of the server accepts it, and no other caller
 * can create or use it. On a server without keys every caller has all scopes, and the signature only proves that the
 * state came from this server.
 */
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server'

import { mcpCallerOf } from './caller.ts'

import type { Signer, SigningKey } from '../gateway-options.ts'

/** A call between two rounds. */
export interface RoundState {
  /** Name under which the tool was called. */
  readonly tool: string
  readonly runId: string
  /** `seq` of the last event that was sent to the client. */
  readonly seq: number
  /** Ids of the reviews that the person declined to decide here. */
  readonly declined: readonly string[]
}

/** Signs and verifies states. */
export interface RoundStates {
  mint(state: RoundState, context: ServerContext): Promise<string>
  /** Returns the state; rejects one that is forged, expired, or of another caller. */
  verify(state: string, context: ServerContext): Promise<RoundState>
}

/** Purpose, which separates these signatures from others with the same secret. */
const PURPOSE = 'tutti mcp request state v2'

/** Lifetime of a state: a person may take days, and most reviews time out earlier. */
const TTL_SECONDS = 7 * 24 * 3_600

/** Creates the states of one server. */
export function roundStates(keys: readonly SigningKey[], signer: Signer): RoundStates {
  const codecOf = (context: ServerContext) => {
    const { name } = mcpCallerOf(context)
    const key = signer.signingKey(
      PURPOSE,
      keys.find((known) => known.name === name),
    )
    return createRequestStateCodec<RoundState>({ key, ttlSeconds: TTL_SECONDS })
  }
  return {
    mint: (state, context) => codecOf(context).mint(state, context),
    verify: async (state, context) => codecOf(context).verify(state, context),
  }
}
