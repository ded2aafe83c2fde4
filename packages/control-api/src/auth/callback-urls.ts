/** URLs with which services without a key send events to the runs that asked for them. */
import { createHash } from 'node:crypto'

import { loadSigner } from '../secrets/signer.ts'
import { createCallbackToken } from './event-links.ts'

import type { CreateCallbackUrl } from '@tutti/ensemble/internal'
import type { Signer } from '@tutti/gateway/internal'
import type { RunStorage } from '@tutti/runs/adapter'

/** Settings of callback URLs, the same as those of the server that receives the requests. */
export interface CallbackUrlOptions {
  /** Storage of the runs, with the secret that signs. */
  readonly storage: Pick<RunStorage, 'secrets'>
  /** URL of the server for other services, such as `https://runs.example.com`. */
  readonly publicUrl: string
  /** Secret that signs. @default the one in the storage */
  readonly ticketSecret?: string | undefined
}

/** Returns the option `callbackUrl` of a run service, for handlers that ask for callback URLs. */
export function createCallbackUrls({
  storage: { secrets },
  publicUrl,
  ticketSecret,
}: CallbackUrlOptions): CreateCallbackUrl {
  const base = publicUrl.replace(/\/+$/, '')
  let signer: Signer | undefined
  return async ({ runId, taskName, attempt, ...event }) => {
    signer ??= await loadSigner({ ticketSecret, runs: { stores: { secrets } } })
    const parts = JSON.stringify([runId, taskName, attempt, event.name, event.key ?? null])
    const id = `callback-${createHash('sha256').update(parts).digest('hex').slice(0, 32)}`
    const token = createCallbackToken({ issuer: '', id, ...event, runId }, signer)
    return `${base}/api/event-links/${token}`
  }
}
