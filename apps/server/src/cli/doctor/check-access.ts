/** Pure check of keys and of the address to listen on. */
import { isLoopback } from '@tutti/core/internal'

import { toEpochMs } from '../../config/config-problems.ts'
import { findingsFor, type Finding } from '../../checks/finding.ts'

import type { TuttiConfig } from '../../config/config.ts'
import type { Environment } from '../../environment/env.ts'

/** Checks that the address is safe with the configured keys; `now` is in milliseconds since 1970. */
export function checkAccess(
  { auth = {} }: Pick<TuttiConfig, 'auth'>,
  { host, apiKeys }: Pick<Environment, 'host' | 'apiKeys'>,
  now: number,
): readonly Finding[] {
  const { ok, warning, problem } = findingsFor('access')
  const { keys = [], allowUnauthenticated = false } = auth
  const expired = keys.filter(
    ({ expiresAt }) => expiresAt !== undefined && toEpochMs(expiresAt) <= now,
  )
  const late = expired.map(({ name }) =>
    warning(`Key "${name}" has expired`, 'Replace it, or remove it from "auth.keys"'),
  )
  const names = [...apiKeys, ...keys].map(({ name }) => name)
  const valid = names.filter((name) => !expired.some((key) => key.name === name))
  const isLocal = isLoopback(host)
  if (names.length > 0) {
    if (expired.length === names.length) {
      return [
        ...late,
        problem('Every key has expired: all requests are rejected', 'Add a key to TUTTI_API_KEYS'),
      ]
    }
    return [...late, ok(`Requests to ${host} need one of these keys: ${valid.join(', ')}`)]
  }
  if (isLocal) return [ok(`${host} is reachable from this machine only, and needs no key`)]
  if (allowUnauthenticated) {
    return [
      warning(
        `No keys are set: anyone who can reach ${host} can start runs and spend money`,
        'Set TUTTI_API_KEYS, unless a proxy authenticates callers',
      ),
    ]
  }
  return [
    problem(
      `The server does not listen on ${host} without keys: anyone who can reach it could start runs`,
      'Set TUTTI_API_KEYS or auth.keys, or listen on 127.0.0.1',
    ),
  ]
}
