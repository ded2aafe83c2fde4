/** Calls a peer twice and leaves the connection open; the process must still exit. */
import { systemClock } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'

import { peerConnector } from '../src/connector/index.ts'

const [, , url = ''] = process.argv
const { signal } = new AbortController()
const connector = peerConnector({ url })
for (const idempotencyKey of ['first', 'second']) {
  const session = await connector.connect({
    mode: 'sync',
    signal,
    onBytes: () => undefined,
    remaining: () => ({ timeMs: Infinity, costUsd: Infinity, tokens: Infinity }),
    traceparent: undefined,
    idempotencyKey,
    clock: systemClock,
    logger: silentLogger,
    hasReviewer: false,
    hasReply: false,
    requestAnswer: () => Promise.reject(new Error('No reviewer')),
  })
  for await (const update of session.send({ index: 0, input: 'Hello' })) {
    if (update.kind === 'end') process.stdout.write(String(update.output))
  }
}
