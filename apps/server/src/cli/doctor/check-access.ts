/** Pure: who may call the server. */
import { isLoopback } from '@tutti/core'

import { toEpochMs } from '../../config/config-problems.ts'
import { findingsOf, type Finding } from './finding.ts'

import type { TuttiConfig } from '../../config/config.ts'
import type { Environment } from '../../environment/env.ts'

/** Checks keys against the address; `now` is in milliseconds since 1970. */
export function checkAccess(
  { auth = {} }: Pick<TuttiConfig, 'auth'>,
  { host, apiKeys }: Pick<Environment, 'host' | 'apiKeys'>,
  now: number,
): readonly Finding[] {
  const { ok, warning, problem } = findingsOf('access')
  const { keys = [], allowUnauthenticated = false } = auth
  const expired = keys.filter(
    ({ expiresAt }) => expiresAt !== undefined && toEpochMs(expiresAt) <= now,
  )
  const late = expired.map(({ name }) =>
    warning(`Key "${name}" has expired`, 'Give its owner a new one, or take it out of "auth.keys"'),
  )
  const names = [...apiKeys, ...keys].map(({ name }) => name)
  const valid = names.filter((name) => !expired.some((key) => key.name === name))
  const isLocal = isLoopback(host)
  if (names.length > 0) {
    if (expired.length === names.length) {
      return [
        ...late,
        problem('Every key has expired: nobody can call', 'Add a key to TUTTI_API_KEYS'),
      ]
    }
    return [...late, ok(`${host} accepts these keys: ${valid.join(', ')}`)]
  }
  if (isLocal) return [ok(`${host} is reached from this machine only, and needs no key`)]
  if (allowUnauthenticated) {
    return [
      warning(
        `Anyone who reaches ${host} can start runs and spend money: no keys are set`,
        'Set TUTTI_API_KEYS, unless something in front of it says who may call',
      ),
    ]
  }
  return [
    problem(
      `The server does not listen on ${host} without keys: anyone who reaches it could start runs`,
      'Set TUTTI_API_KEYS or auth.keys, or listen on 127.0.0.1',
    ),
  ]
}
