/** Signs what webhooks are sent, by Standard Webhooks. @see https://www.standardwebhooks.com */
import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

/** Bytes of a secret that the standard allows. */
const MIN_SECRET = 24
const MAX_SECRET = 64

/** What is signed. */
export interface Signed {
  /** The same for every attempt. */
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/** The three headers of a delivery, with its signature `v1,…`. */
export function signatureHeaders(
  secret: string,
  { id, timestamp, body }: Signed,
): Readonly<Record<string, string>> {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
}

/** What is wrong with a secret, to go after its name; undefined when nothing. The secret is not shown. */
export function findSecretProblem(secret: string): string | undefined {
  const wanted = `must be "${PREFIX}" and ${MIN_SECRET} to ${MAX_SECRET} bytes in base64`
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? []
  if (encoded === undefined) return wanted
  const { length } = Buffer.from(encoded, 'base64')
  return length >= MIN_SECRET && length <= MAX_SECRET ? undefined : `${wanted}, got ${length} bytes`
}
