/**
 * Derives the keys that sign tickets and MCP request states.
 *
 * The keys derive from a random secret that only the server and its store know. The SHA-256 of an API key is not secret,
 * because configuration files contain it. It is part of every derived key, so that a ticket becomes invalid with its
 * API key.
 */
import { createHmac } from 'node:crypto'

import type { Signer } from '@tutti/gateway/internal'
import type { RunService } from '@tutti/runs'

/** Name of the secret in the store. */
const SECRET_NAME = 'signatures'

/** Sources of the secret that signs. */
export interface SignerSources {
  /** Configured secret; undefined for the one in the store. */
  readonly ticketSecret: string | undefined
  readonly runs: { readonly stores: Pick<RunService['stores'], 'secrets'> }
}

/** Returns the signer of a server, which is the same for all processes with the same store or `ticketSecret`. */
export async function loadSigner({ ticketSecret, runs }: SignerSources): Promise<Signer> {
  return createSigner(ticketSecret ?? (await runs.stores.secrets.get(SECRET_NAME)))
}

/** Creates the signer for a secret. */
export function createSigner(secret: string): Signer {
  return {
    signingKey(purpose, key) {
      const subject = key === undefined ? null : [key.name, key.sha256.toLowerCase()]
      return createHmac('sha256', secret)
        .update(JSON.stringify([purpose, subject]))
        .digest()
    },
  }
}
