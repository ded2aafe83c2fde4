/** Pure: every secret that a server knows. */
import { telemetrySecrets } from '../environment/telemetry-env.ts'

import type { TuttiConfig } from '../config/config.ts'
import type { Environment } from '../environment/env.ts'

/** The values that no log, error or event may show: those of the environment, and those of the config. */
export function secretsOf(
  {
    auth: { keys = [] } = {},
    webhooks = {},
    secrets = [],
    telemetry: { traces } = {},
  }: Pick<TuttiConfig, 'auth' | 'webhooks' | 'secrets' | 'telemetry'>,
  environment: Pick<Environment, 'secrets'>,
): readonly string[] {
  const ofKeys = keys.flatMap(({ key, sha256 }) =>
    [key, sha256, sha256?.toLowerCase()].filter((secret) => secret !== undefined),
  )
  const ofWebhooks = Object.values(webhooks).map(({ secret }) => secret)
  const ofTraces =
    typeof traces === 'object' ? telemetrySecrets(traces.headers ?? {}, [traces.url]) : []
  const all = [...environment.secrets, ...ofKeys, ...ofWebhooks, ...ofTraces, ...secrets]
  return [...new Set(all)]
}
