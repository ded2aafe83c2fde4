/** Validates the registered webhooks and starts their sender. */
import { TuttiError } from '@tutti/core'

import { findSecretProblem } from './sign.ts'
import { WebhookSender } from './webhook-sender.ts'

import type { ResolvedControlApiOptions, Webhook } from '../options.ts'

/**
 * Notifies webhooks of runs until the returned function is called or the run service is closed.
 *
 * @throws {TuttiError} CONFIG_INVALID naming every problem of the webhooks.
 */
export function startWebhooks(
  options: Pick<ResolvedControlApiOptions, 'runs' | 'redactor' | 'webhooks' | 'clock' | 'logger'>,
): () => Promise<void> {
  const { runs, webhooks } = options
  assertWebhooks(webhooks)
  if (Object.keys(webhooks).length === 0) return () => Promise.resolve()
  const sender = new WebhookSender(options)
  runs.beforeStoreCloses(() => sender.stop())
  return () => sender.stop()
}

/**
 * Validates webhooks.
 *
 * @throws {TuttiError} CONFIG_INVALID naming every problem but no secret.
 */
function assertWebhooks(webhooks: Readonly<Record<string, Webhook>>): void {
  const problems = Object.entries(webhooks).flatMap(([name, webhook]) =>
    findProblems(webhook).map((problem) => `webhooks.${name}.${problem}`),
  )
  if (problems.length === 0) return
  throw new TuttiError('CONFIG_INVALID', `Cannot use the webhooks: ${problems.join('; ')}`, {
    details: { problems },
  })
}

function findProblems({ url, secret }: Webhook): readonly string[] {
  const secretProblem = findSecretProblem(secret)
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const isHttp = parsed?.protocol === 'https:' || parsed?.protocol === 'http:'
  return [
    ...(isHttp ? [] : [`url must be an http or https address, got "${url}"`]),
    ...(secretProblem === undefined ? [] : [`secret ${secretProblem}`]),
  ]
}
