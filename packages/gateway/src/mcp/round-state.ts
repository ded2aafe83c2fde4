/**
 * What a client carries from one round of a call to the next while a person fills in a form (2026-07-28 has
 * no sessions). It is signed as tickets are: every process of the server accepts it, and no other caller can
 * make or use it. On a server without keys every caller may do everything, and the signature only shows that the
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
  /** The last event that the client was sent. */
  readonly seq: number
  /** Reviews that the person did not want to decide here. */
  readonly declined: readonly string[]
}

/** Makes and reads states. */
export interface RoundStates {
  mint(state: RoundState, context: ServerContext): Promise<string>
  /** Rejects a state that is forged, too old, or of another caller. */
  verify(state: string, context: ServerContext): Promise<RoundState>
}

/** Separates these signatures from others with the same secret. */
const PURPOSE = 'tutti mcp request state v2'

/** A person may take days; most reviews time out earlier. */
const TTL_SECONDS = 7 * 24 * 3_600

/** Returns what signs the states of the callers of one server. */
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
