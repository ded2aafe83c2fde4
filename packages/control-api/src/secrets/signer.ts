/**
 * Derives the keys that sign tickets and MCP request states.
 *
 * They come from a random secret that only the server and its store know. The SHA-256 of an API key is no secret: it
 * is part of configuration files. It is bound into every signature, so that a ticket ends with its API key.
 */
import { createHmac } from 'node:crypto'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { Signer } from '@tutti/gateway'

/** Name of the secret in the store. */
const SECRET_NAME = 'signatures'

/** Returns the signer of a server: every process with the same store or the same `ticketSecret` has the same. */
export async function loadSigner({
  ticketSecret,
  runs,
}: Pick<ResolvedControlApiOptions, 'ticketSecret' | 'runs'>): Promise<Signer> {
  return createSigner(ticketSecret ?? (await runs.secrets.get(SECRET_NAME)))
}

/** Returns the signer with a secret. */
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
