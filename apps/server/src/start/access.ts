/** Access to a server: its keys and the host names that it accepts. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'

import { apiKey, type ApiKey, type ControlApiOptions } from '@tutti/control-api'
import { TuttiError } from '@tutti/core'
import { isLoopback } from '@tutti/core/internal'

import { toEpochMs } from '../config/config-problems.ts'

import type { AuthConfig, KeyConfig, TuttiConfig } from '../config/config.ts'
import type { Environment } from '../environment/env.ts'
import type { EnvironmentKey } from '../environment/api-keys.ts'

/**
 * Returns the host names that a server accepts. A name that it listens on is accepted. On `0.0.0.0`, a server with keys
 * accepts every name, since a page that reaches it by DNS rebinding has no key. Without keys it accepts only the name of
 * the machine and that of `publicUrl`.
 */
export function allowedHosts(
  { allowedHosts: named, publicUrl }: Pick<TuttiConfig, 'allowedHosts' | 'publicUrl'>,
  { host }: Pick<Environment, 'host'>,
  hasKeys: boolean,
): readonly string[] {
  const everyAddress = host === '0.0.0.0' || host === '::'
  if (named !== undefined) return everyAddress ? named : [...named, host]
  if (!everyAddress) return [host]
  if (hasKeys) return ['*']
  return [hostname(), ...(URL.canParse(publicUrl ?? '') ? [new URL(publicUrl ?? '').hostname] : [])]
}

/** Converts the keys of environment and config to keys for the control API. */
function toApiKeys(
  { keys = [] }: AuthConfig,
  environmentKeys: readonly EnvironmentKey[],
): readonly ApiKey[] {
  return [...environmentKeys, ...keys.map(toEntry)].map(hashKey)
}

type Entry = Omit<ApiKey, 'sha256'> & Pick<EnvironmentKey, 'key' | 'sha256'>

function toEntry({ name, key, sha256, scopes, roles, expiresAt, limits }: KeyConfig): Entry {
  return {
    name,
    key,
    sha256,
    ...(scopes === undefined ? {} : { scopes }),
    ...(roles === undefined ? {} : { roles }),
    ...(expiresAt === undefined ? {} : { expiresAt: toEpochMs(expiresAt) }),
    ...(limits === undefined ? {} : { limits }),
  }
}

function hashKey({ key, sha256 = '', ...entry }: Entry): ApiKey {
  return key === undefined ? { ...entry, sha256 } : apiKey(key, entry)
}

/** Returns the options of the control API that define access to the server. */
export function accessOptions(config: TuttiConfig, environment: Environment): AccessOptions {
  const { auth = {}, allowedOrigins = [], publicUrl, workspace, shared, webhooks = {} } = config
  const apiKeys = toApiKeys(auth, environment.apiKeys)
  return {
    apiKeys,
    allowedHosts: allowedHosts(config, environment, apiKeys.length > 0),
    allowedOrigins,
    publicUrl,
    ticketSecret: environment.ticketSecret,
    shared,
    webhooks,
    workspace: workspace === undefined ? undefined : resolve(workspace),
  }
}

type AccessOptions = Pick<
  ControlApiOptions,
  | 'apiKeys'
  | 'allowedHosts'
  | 'allowedOrigins'
  | 'publicUrl'
  | 'shared'
  | 'ticketSecret'
  | 'webhooks'
  | 'workspace'
>

/** @throws {TuttiError} CONFIG_INVALID when other machines can reach the address and there are no keys. */
export function assertSafeAddress(
  { auth = {} }: TuttiConfig,
  { host, apiKeys }: Environment,
): void {
  const keys = apiKeys.length + (auth.keys?.length ?? 0)
  if (isLoopback(host) || keys > 0 || auth.allowUnauthenticated === true) return
  throw new TuttiError(
    'CONFIG_INVALID',
    `Cannot listen on "${host}" without keys: anyone who can reach it could start runs. ` +
      'Set TUTTI_API_KEYS or auth.keys in the config file, or set ' +
      'auth: { allowUnauthenticated: true } there',
  )
}
