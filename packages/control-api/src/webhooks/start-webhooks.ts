/** Starts telling webhooks, when there are any. */
import { assertWebhooks } from './check-webhooks.ts'
import { WebhookSender } from './webhook-sender.ts'

import type { ResolvedControlApiOptions } from '../options.ts'

/**
 * Tells webhooks what becomes of runs, until the returned function is called or the runs are closed.
 *
 * @throws {TuttiError} CONFIG_INVALID naming everything that is wrong with them.
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
