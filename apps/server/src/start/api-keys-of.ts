/** Pure: the keys of a server, from its config and its environment. */
import { apiKey, type ApiKey } from '@tutti/control-api'

import { toInstant } from '../config/config-problems.ts'

import type { EnvironmentKey } from '../environment/api-keys.ts'
import type { AuthConfig, KeyConfig } from '../config/config.ts'

/** The keys as the control API knows them: those of the environment, then those of the config. */
export function apiKeysOf(
  { keys = [] }: AuthConfig,
  ofEnvironment: readonly EnvironmentKey[],
): readonly ApiKey[] {
  return [...ofEnvironment, ...keys.map(toEntry)].map(hashed)
}

type Entry = Omit<ApiKey, 'sha256'> & Pick<EnvironmentKey, 'key' | 'sha256'>

function toEntry({ name, key, sha256, scopes, roles, expiresAt, limits }: KeyConfig): Entry {
  return {
    name,
    key,
    sha256,
    ...(scopes === undefined ? {} : { scopes }),
    ...(roles === undefined ? {} : { roles }),
    ...(expiresAt === undefined ? {} : { expiresAt: toInstant(expiresAt) }),
    ...(limits === undefined ? {} : { limits }),
  }
}

function hashed({ key, sha256 = '', ...entry }: Entry): ApiKey {
  return key === undefined ? { ...entry, sha256 } : apiKey(key, entry)
}
