/** Pure but for the name of the machine: the host names under which a server may be called. */
import { hostname } from 'node:os'

import type { TuttiConfig } from '../config/config.ts'
import type { Environment } from '../environment/env.ts'

/**
 * A name that the operator listens on is a name of the server. On `0.0.0.0`, which says nothing about names, a
 * server with keys accepts every name: a page that got a name for it (DNS rebinding) has no key. Without keys it
 * accepts only addresses, the name of the machine and that of `publicUrl`.
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
