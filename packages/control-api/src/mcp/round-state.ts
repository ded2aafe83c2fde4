/**
 * What a client carries from one round of a call to the next while a person fills in a form (2026-07-28 has
 * no sessions). It is signed with what the server keeps of the caller's key, as tickets are: every process
 * with the same keys takes it, and no other caller can make or use it. Where no keys are set everybody may do
 * everything, and the signature only tells an answer of ours from another.
 */
import { createHmac } from 'node:crypto'

import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server'

import { callerOf } from './mcp-caller.ts'

import type { ApiKey } from '../options.ts'

/** A call between two rounds. */
export interface RoundState {
  /** Name under which the tool was called. */
  readonly tool: string
  readonly runId: string
  /** The last event that the client was told of. */
  readonly seq: number
  /** Reviews that the person did not want to decide here. */
  readonly declined: readonly string[]
}

/** Makes and reads states. */
export interface RoundStates {
  mint(state: RoundState, context: ServerContext): Promise<string>
  /** Rejects what is forged, too old, or of another caller. */
  verify(state: string, context: ServerContext): Promise<RoundState>
}

/** Sets these signatures apart from others under the same secret. */
const PURPOSE = 'tutti mcp request state v1'

/** A person may take days; a gate mostly does not wait that long. */
const TTL_SECONDS = 7 * 24 * 3_600

/** Makes what signs the states of the callers of one server. */
export function roundStates(keys: readonly Pick<ApiKey, 'name' | 'sha256'>[]): RoundStates {
  const codecOf = (context: ServerContext) => {
    const { name } = callerOf(context)
    const secret = keys.find((key) => key.name === name)?.sha256 ?? ''
    const key = createHmac('sha256', Buffer.from(secret, 'hex')).update(PURPOSE).digest()
    return createRequestStateCodec<RoundState>({ key, ttlSeconds: TTL_SECONDS })
  }
  return {
    mint: (state, context) => codecOf(context).mint(state, context),
    verify: async (state, context) => codecOf(context).verify(state, context),
  }
}
