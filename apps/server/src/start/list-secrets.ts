/** Pure: lists the secrets that a server knows. */
import { listKeySecrets } from '../environment/api-keys.ts'
import { listTelemetrySecrets } from '../environment/telemetry-env.ts'

import type { TuttiConfig } from '../config/config.ts'
import type { Environment } from '../environment/env.ts'

/** Lists the values of the environment and of the config to redact from logs, errors and events. */
export function listServerSecrets(
  {
    auth: { keys = [] } = {},
    webhooks = {},
    secrets = [],
    telemetry: { traces } = {},
  }: Pick<TuttiConfig, 'auth' | 'webhooks' | 'secrets' | 'telemetry'>,
  environment: Pick<Environment, 'secrets'>,
): readonly string[] {
  const ofWebhooks = Object.values(webhooks).map(({ secret }) => secret)
  const ofTraces =
    typeof traces === 'object' ? listTelemetrySecrets(traces.headers ?? {}, [traces.url]) : []
  const all = [
    ...environment.secrets,
    ...listKeySecrets(keys),
    ...ofWebhooks,
    ...ofTraces,
    ...secrets,
  ]
  return [...new Set(all)]
}
