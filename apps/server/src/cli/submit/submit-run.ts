/** Submits the run of a command line. Neither a signal nor a lost response loses the run. */
import { randomUUID } from 'node:crypto'

import { newId } from '@tutti/core/internal'

import { CommandError } from '../command-error.ts'
import { submitError } from './submit-advice.ts'

import type { TuttiClient } from '@tutti/client'
import type { RunAccepted, SubmitRunBody } from '@tutti/protocol'
import type { CommandContext } from '../command-context.ts'
import type { SignalInbox } from '../../terminal/signal-inbox.ts'

/** Run to submit. */
export interface PreparedSubmission {
  readonly client: TuttiClient
  readonly body: SubmitRunBody
  readonly idempotencyKey: string | undefined
  /** Arguments of the command, for advice. */
  readonly args: readonly string[]
  readonly signals: SignalInbox
}

/**
 * Submits the run. The command chooses its id, unless the caller has set an idempotency key: a repeated key must come
 * with the same request. A signal is handled after the response, so that it can cancel the run; a second one leaves.
 *
 * @throws {CommandError} with advice.
 */
export async function submitPrepared(
  { client, body: described, idempotencyKey, args, signals }: PreparedSubmission,
  { io, url }: CommandContext,
): Promise<RunAccepted> {
  const runId = described.runId ?? (idempotencyKey === undefined ? newId('run') : undefined)
  const body = runId === undefined ? described : { ...described, runId }
  const leaving = new AbortController()
  let isInterrupted = false
  signals.listen((signal) => {
    if (isInterrupted) {
      leaving.abort()
      return
    }
    isInterrupted = true
    io.stderr.write(
      'Submitting the run; interrupt again to leave without waiting for the response\n',
    )
    signals.enqueue(signal)
  })
  try {
    return await client.runs.submit(body, {
      idempotencyKey: idempotencyKey ?? randomUUID(),
      signal: leaving.signal,
    })
  } catch (error) {
    if (!leaving.signal.aborted) throw submitError(error, { url, args, runId })
    const advice = runId === undefined ? 'tutti runs' : `tutti watch ${runId}`
    throw new CommandError('INTERRUPTED', 'Stopped waiting before the server responded', [
      `To check whether the run was accepted: ${advice}`,
    ])
  } finally {
    signals.hold()
  }
}
