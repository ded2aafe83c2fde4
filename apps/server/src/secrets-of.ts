/** Pure: every secret that a server knows. */
import type { TuttiConfig } from './config.ts'
import type { Environment } from './env.ts'

/** The values that no log, error or event may show: those of the environment, and those of the config. */
export function secretsOf(
  {
    auth: { keys = [] } = {},
    webhooks = {},
    secrets = [],
  }: Pick<TuttiConfig, 'auth' | 'webhooks' | 'secrets'>,
  environment: Pick<Environment, 'secrets'>,
): readonly string[] {
  const ofKeys = keys.flatMap(({ key }) => (key === undefined ? [] : [key]))
  const ofWebhooks = Object.values(webhooks).map(({ secret }) => secret)
  return [...new Set([...environment.secrets, ...ofKeys, ...ofWebhooks, ...secrets])]
}
