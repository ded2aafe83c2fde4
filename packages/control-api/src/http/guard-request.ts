/**
 * Who may talk to the server at all. A page of another site must not reach a server on this machine,
 * neither by its own request (Origin) nor under a name of its own (Host, "DNS rebinding"); and where
 * keys are set, every request carries one.
 */
import { createHash, timingSafeEqual } from 'node:crypto'

import { TuttiError } from '@tutti/core'

import type { ResolvedControlApiOptions } from '../options.ts'

/** Headers that decide who may pass. */
export interface RequestHeaders {
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly authorization: string | undefined
}

/** @throws {TuttiError} HOST_NOT_ALLOWED, ORIGIN_NOT_ALLOWED or UNAUTHORIZED. */
export type RequestGuard = (headers: RequestHeaders, access: 'public' | 'keyed') => void

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** Makes the guard of a server. */
export function requestGuard({
  allowedHosts,
  apiKeys,
}: Pick<ResolvedControlApiOptions, 'allowedHosts' | 'apiKeys'>): RequestGuard {
  const everyone = allowedHosts.includes('*')
  const hosts = new Set([...LOOPBACK, ...allowedHosts.map((host) => host.toLowerCase())])
  const hashes = apiKeys.map(hash)
  return ({ host, origin, authorization }, access) => {
    if (!everyone) {
      assertHost(host, hosts)
      assertOrigin(origin, hosts)
    }
    if (access === 'keyed' && hashes.length > 0) assertKey(authorization, hashes)
  }
}

function assertHost(host: string | undefined, hosts: ReadonlySet<string>): void {
  if (host !== undefined && hosts.has(hostName(`http://${host}`))) return
  throw new TuttiError('HOST_NOT_ALLOWED', `Host "${host ?? ''}" is not one of this server's names`)
}

function assertOrigin(origin: string | undefined, hosts: ReadonlySet<string>): void {
  if (origin === undefined || hosts.has(hostName(origin))) return
  throw new TuttiError('ORIGIN_NOT_ALLOWED', `Origin "${origin}" may not call this server`)
}

function hostName(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}

function assertKey(authorization: string | undefined, hashes: readonly Buffer[]): void {
  const [, key] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  const given = hash(key ?? '')
  // Every key is compared, so that the time taken tells nothing.
  const matches = hashes.filter((known) => timingSafeEqual(known, given))
  if (key !== undefined && matches.length > 0) return
  throw new TuttiError(
    'UNAUTHORIZED',
    key === undefined
      ? 'This server needs a key: send "Authorization: Bearer <key>"'
      : 'This key is not known to the server',
  )
}

function hash(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
