/** Checks webhooks as the operator registers them. */
import { TuttiError } from '@tutti/core'

import { secretProblem } from './sign.ts'

import type { Webhook } from '../options.ts'

/**
 * Checks webhooks.
 *
 * @throws {TuttiError} CONFIG_INVALID naming every problem; no secret is shown.
 */
export function assertWebhooks(webhooks: Readonly<Record<string, Webhook>>): void {
  const problems = Object.entries(webhooks).flatMap(([name, webhook]) =>
    problemsOf(webhook).map((problem) => `webhooks.${name}.${problem}`),
  )
  if (problems.length === 0) return
  throw new TuttiError('CONFIG_INVALID', `Cannot use the webhooks: ${problems.join('; ')}`, {
    details: { problems },
  })
}

function problemsOf({ url, secret }: Webhook): readonly string[] {
  const secretIs = secretProblem(secret)
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const isHttp = parsed?.protocol === 'https:' || parsed?.protocol === 'http:'
  return [
    ...(isHttp ? [] : [`url must be an http or https address, got "${url}"`]),
    ...(secretIs === undefined ? [] : [`secret ${secretIs}`]),
  ]
}
