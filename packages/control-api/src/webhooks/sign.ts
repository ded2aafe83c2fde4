/** Signs webhook deliveries according to Standard Webhooks. @see https://www.standardwebhooks.com */
import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

/** Minimum and maximum size of a secret in the standard, in bytes. */
const MIN_SECRET = 24
const MAX_SECRET = 64

/** Signed content of a delivery. */
export interface Signed {
  /** Id of the delivery, the same for every attempt. */
  readonly id: string
  /** Time of the attempt in seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/** Returns the three headers of a delivery, with the signature `v1,…`. */
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

/** Returns the problem of a secret without the secret, to append to its name; undefined if it is valid. */
export function findSecretProblem(secret: string): string | undefined {
  const wanted = `must be "${PREFIX}" followed by ${MIN_SECRET} to ${MAX_SECRET} bytes in base64`
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? []
  if (encoded === undefined) return wanted
  const { length } = Buffer.from(encoded, 'base64')
  return length >= MIN_SECRET && length <= MAX_SECRET ? undefined : `${wanted}, got ${length} bytes`
}
