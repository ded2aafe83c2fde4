/**
 * Counts the body of each request towards the bytes in flight.
 *
 * API-B1 A request with a body is refused with 503 before its body is read if the budget of bytes has no room. Requests
 *    without a body, such as health checks and cancels, are never refused for it.
 * API-B2 A body counts until the request has been answered, or its stream has begun, or its connection has closed.
 */
import type { HttpBindings } from '@hono/node-server'
import type { Caller } from '@tutti/gateway/internal'
import type { RunService } from '@tutti/runs'
import type { Reservation, WorkSource } from '@tutti/runs/internal'
import type { IncomingMessage } from 'node:http'

/** Limits of request bodies. */
export interface AdmissionOptions {
  readonly runs: Pick<RunService, 'budget'>
  readonly maxBodyBytes: number
}

/**
 * Reserves the bytes of a request. Returns the source of its work.
 *
 * @throws {TuttiError} OVERLOADED.
 */
export function admitRequest(
  { incoming, outgoing }: HttpBindings,
  caller: Caller,
  { runs, maxBodyBytes }: AdmissionOptions,
): WorkSource & { readonly held: Reservation } {
  const key = shareKey(caller)
  const held = runs.budget.reserve(key, readBodySize(incoming, maxBodyBytes))
  outgoing.once('close', held.release)
  return { key, connection: incoming.socket, held }
}

/** Returns the name under which a caller gets its share: its key or, without keys, its address. */
export function shareKey({ name, remoteAddress = '' }: Caller): string {
  return name ?? remoteAddress
}

/** Returns the size of a body in bytes; the maximum for one that does not state it. */
function readBodySize({ headers }: IncomingMessage, maxBodyBytes: number): number {
  if (headers['transfer-encoding'] !== undefined) return maxBodyBytes
  return Math.min(Number(headers['content-length'] ?? 0), maxBodyBytes)
}
