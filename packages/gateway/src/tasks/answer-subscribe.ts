/** Answers `tasks/sendSubscribe`: line by line as things happen, the last line is the answer. */
import { wireErrorOf } from '../http/on-error.ts'
import { wrapped } from './answer.ts'
import { followTask } from './follow-task.ts'
import { KEEP_ALIVE_MS } from './limits.ts'
import { ndjsonBody } from './ndjson-body.ts'
import { leaveTask, takeSend, type TakenSend } from './take-send.ts'

import type { WireCall } from './answer-send.ts'
import type { Sender } from './open-task.ts'

const HEADERS = {
  'content-type': 'application/x-ndjson',
  'cache-control': 'no-cache, no-transform',
  // Proxies such as nginx would otherwise gather lines before passing them on.
  'x-accel-buffering': 'no',
}

/**
 * The answer.
 *
 * @throws {TuttiError} as `takeSend`.
 */
export async function answerSubscribe(call: WireCall): Promise<Response> {
  const { body, sender, signal } = call
  const { clock, heartbeatMs } = sender.options
  const taken = await takeSend(body, 'tasks/sendSubscribe', sender)
  if (signal.aborted) leaveTask(taken.task, sender)
  const stop = new AbortController()
  const keepAliveMs = Math.min(heartbeatMs, KEEP_ALIVE_MS)
  const lines = wrappedLines(linesOf(taken, sender, stop.signal), call)
  return new Response(ndjsonBody(lines, { clock, keepAliveMs, stop }), { headers: HEADERS })
}

async function* wrappedLines(
  batches: AsyncGenerator<readonly object[]>,
  { envelope }: WireCall,
): AsyncGenerator<readonly object[]> {
  for await (const lines of batches) yield lines.map((line) => wrapped(envelope, line))
}

async function* linesOf(
  { task, limits }: TakenSend,
  { options }: Sender,
  signal: AbortSignal,
): AsyncGenerator<readonly object[]> {
  const { run, sessionId } = task
  const first = {
    id: run.runId,
    status: 'working',
    ...(sessionId === undefined ? {} : { sessionId }),
  }
  yield [first]
  try {
    yield* followTask(task, { options, limits, signal })
  } catch (error) {
    options.logger.warn('A stream of a task ended early: its events could not be read', {
      runId: run.runId,
      error,
    })
    yield [{ ...first, ...wireErrorOf(error, options).body }]
  }
}
