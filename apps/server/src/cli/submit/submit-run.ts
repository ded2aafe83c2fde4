/** Submits the run of a command line, in such a way that no signal and no lost answer loses it. */
import { randomBytes, randomUUID } from 'node:crypto'

import { CommandError } from '../command-error.ts'
import { submitError } from './submit-advice.ts'

import type { TuttiClient } from '@tutti/client'
import type { RunAccepted, SubmitRunBody } from '@tutti/protocol'
import type { CommandContext } from '../command-context.ts'
import type { SignalInbox } from '../live/signal-inbox.ts'

/** What is submitted. */
export interface PreparedSubmission {
  readonly client: TuttiClient
  readonly body: SubmitRunBody
  readonly idempotencyKey: string | undefined
  /** The words of the command line, for advice. */
  readonly words: readonly string[]
  readonly signals: SignalInbox
}

/**
 * Submits. The run has an id before the server knows it, unless the caller chose a key: the same key has to mean the same
 * request when it is given again. A signal waits for the answer, so that it can end the run; a second one leaves.
 *
 * @throws {CommandError} with what to do about it.
 */
export async function submitPrepared(
  { client, body: asked, idempotencyKey, words, signals }: PreparedSubmission,
  { io, url }: CommandContext,
): Promise<RunAccepted> {
  const runId = asked.runId ?? (idempotencyKey === undefined ? newRunId() : undefined)
  const body = runId === undefined ? asked : { ...asked, runId }
  const leaving = new AbortController()
  let isTold = false
  signals.listen((signal) => {
    if (isTold) {
      leaving.abort()
      return
    }
    isTold = true
    io.stderr.write('The run is being submitted; once more to leave without an answer\n')
    signals.keep(signal)
  })
  try {
    return await client.runs.submit(body, {
      idempotencyKey: idempotencyKey ?? randomUUID(),
      signal: leaving.signal,
    })
  } catch (error) {
    if (!leaving.signal.aborted) throw submitError(error, { url, words, runId })
    const advice = runId === undefined ? 'tutti runs' : `tutti watch ${runId}`
    throw new CommandError('INTERRUPTED', 'Left before the server had answered', [
      `Whether the run is there: ${advice}`,
    ])
  } finally {
    signals.hold()
  }
}

function newRunId(): string {
  return `run-${randomBytes(8).toString('hex')}`
}
