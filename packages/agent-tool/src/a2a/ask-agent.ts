/**
 * One message to an agent, followed until its task settles, whatever becomes of the connection.
 *
 *   stream ──ends early, lost──▶ subscribe ─▶ get task ─▶ subscribe … ─▶ get task … ─▶ settled
 *   send, not waiting ──────────────────────▶ get task … ────────────────────────────▶ settled
 *
 * Q1 An agent that streams is asked for a stream, as that says at once which task to cancel; one that does not is
 *    asked not to wait, and then how the task stands, less and less often. An agent that refuses either is asked
 *    the next way: it has done nothing.
 * Q2 Once the task is known, its message is not sent again: a stream that ends early or breaks is taken up again,
 *    `MAX_SUBSCRIPTIONS` times without news, and then the agent is asked how the task stands.
 * Q3 `MAX_LOST` questions in a row without an answer are a lost connection; so is a task that the agent does not
 *    know any more. An error that the agent gives is the end.
 */
import { sleep, type Clock, type Logger } from '@tutti/core'
import { AgentError } from '@tutti/agent-call'

import { a2aFailure, isMisfit, isRefusal, isSaidByAgent, isUnknownTask } from './a2a-failure.ts'

import type { A2aPeer } from './a2a-peer.ts'
import type { TaskRecord } from './task-record.ts'
import type { A2aNews, A2aRequest } from './wire.ts'

/** Subscriptions in a row that bring nothing new, at most. */
export const MAX_SUBSCRIPTIONS = 3

/** Questions in a row that may be lost. */
export const MAX_LOST = 5

/** Wait before the second question of how a task stands, in milliseconds; it doubles with each. */
const FIRST_POLL_MS = 500

/** Longest wait between two such questions, in milliseconds. */
const MAX_POLL_MS = 5_000

/** What a message is sent with. */
export interface AskContext {
  readonly peer: A2aPeer
  /** Is told everything that comes. */
  readonly record: TaskRecord
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
}

/**
 * Sends a message and gives what comes of it, in order, until its task settles.
 *
 * @throws {AgentError} for everything else; what the signal aborted with.
 */
export async function* askAgent(
  request: A2aRequest,
  context: AskContext,
): AsyncGenerator<A2aNews, void> {
  const { peer, record } = context
  try {
    if (peer.streams && (yield* streamed(request, context))) {
      if (!record.isSettled) yield* followed(context, { subscriptions: MAX_SUBSCRIPTIONS })
      if (peer.losesAppend) await putRight(context)
      return
    }
    const news = await sent(request, context)
    yield* taken([news], context)
    if (!record.isSettled) yield* followed(context, { subscriptions: 0 })
  } catch (thrown) {
    context.signal.throwIfAborted()
    throw a2aFailure(thrown)
  }
}

/** Follows the stream of a message; false when the agent refused to stream. */
async function* streamed(
  request: A2aRequest,
  context: AskContext,
): AsyncGenerator<A2aNews, boolean> {
  const { peer, record, logger, signal } = context
  const sentTo = record.taskId
  let hasBegun = false
  try {
    for await (const news of taken(peer.stream(request), context)) {
      hasBegun = true
      yield news
    }
    record.confirm()
  } catch (thrown) {
    signal.throwIfAborted()
    if (!hasBegun && isRefusal(thrown)) return false
    if (!hasBegun || isSaidByAgent(thrown) || record.taskId === undefined) throw thrown
    logger.debug('The stream of an agent broke', { taskId: record.taskId, error: thrown })
  }
  if (!hasBegun && sentTo === undefined) throw noAnswer()
  return true
}

async function sent(request: A2aRequest, { peer, signal }: AskContext): Promise<A2aNews> {
  try {
    return await peer.send(request, { waits: false })
  } catch (thrown) {
    signal.throwIfAborted()
    if (!isMisfit(thrown)) throw thrown
    return peer.send(request, { waits: true })
  }
}

/** Asks until the task settles. */
async function* followed(
  context: AskContext,
  options: { readonly subscriptions: number },
): AsyncGenerator<A2aNews, void> {
  const { peer, record, clock, signal } = context
  const { taskId } = record
  if (taskId === undefined) throw noAnswer()
  let { subscriptions } = options
  let waitMs = subscriptions > 0 ? 0 : FIRST_POLL_MS
  for (let lost = 0; ; waitMs = Math.min(MAX_POLL_MS, Math.max(FIRST_POLL_MS, waitMs * 2))) {
    if (waitMs > 0) await sleep(clock, waitMs, signal)
    signal.throwIfAborted()
    if (subscriptions > 0) {
      const { isRefused, news } = yield* subscribed(taskId, context)
      // The first is the snapshot.
      if (news > 1) [subscriptions, waitMs] = [MAX_SUBSCRIPTIONS, 0]
      else subscriptions = isRefused ? 0 : subscriptions - 1
      if (record.isSettled) return
    }
    const before = JSON.stringify(snapshotOf(record))
    const asked = await howItStands(taskId, peer, { signal, lost })
    lost = asked === undefined ? lost + 1 : 0
    if (asked === undefined) continue
    record.apply(asked)
    record.confirm()
    if (record.isSettled || JSON.stringify(snapshotOf(record)) !== before) yield asked
    if (record.isSettled) return
  }
}

/** Takes the task up again for as long as it goes well. */
async function* subscribed(
  taskId: string,
  context: AskContext,
): AsyncGenerator<A2aNews, { readonly isRefused: boolean; readonly news: number }> {
  let news = 0
  try {
    for await (const one of taken(context.peer.subscribe(taskId), context)) {
      news += 1
      yield one
    }
    return { isRefused: false, news }
  } catch (thrown) {
    context.signal.throwIfAborted()
    const isLost = thrown instanceof AgentError && thrown.retryable
    context.logger.debug('An agent could not be followed', { taskId, error: thrown })
    return { isRefused: !isLost, news }
  }
}

/** Takes the artifacts of an ended task from its snapshot, as its stream did not tell how they belong together. */
async function putRight({ peer, record, logger, signal }: AskContext): Promise<void> {
  const { taskId, artifacts } = record
  if (taskId === undefined || artifacts.length === 0) return
  try {
    record.apply({ task: await peer.getTask(taskId) })
  } catch (thrown) {
    signal.throwIfAborted()
    logger.warn('The artifacts of an agent may not be whole', { taskId, error: thrown })
  }
}

/** The task as it stands; undefined when the question was lost and may be asked again. */
async function howItStands(
  taskId: string,
  peer: A2aPeer,
  { signal, lost }: { readonly signal: AbortSignal; readonly lost: number },
): Promise<A2aNews | undefined> {
  try {
    return { task: await peer.getTask(taskId) }
  } catch (thrown) {
    signal.throwIfAborted()
    if (isUnknownTask(thrown)) {
      throw lostConnection(`the agent does not know its task "${taskId}" any more`, thrown)
    }
    const failure = a2aFailure(thrown)
    if (!failure.retryable) throw failure
    if (lost + 1 < MAX_LOST) return undefined
    throw lostConnection(failure.message, thrown)
  }
}

/** What comes, known to the record before it is handed on; ends when the task has settled. */
async function* taken(
  source: AsyncIterable<A2aNews> | readonly A2aNews[],
  { record }: AskContext,
): AsyncGenerator<A2aNews, void> {
  for await (const news of source) {
    if (Object.keys(news).length === 0) continue
    record.apply(news)
    yield news
    if (record.isSettled) return
  }
}

function snapshotOf({ status, artifacts }: TaskRecord): unknown {
  return [status, artifacts]
}

function noAnswer(): AgentError {
  return new AgentError('The agent ended its answer without a message or a task', {
    failureType: 'invalid_response',
    retryable: false,
  })
}

function lostConnection(why: string, cause: unknown): AgentError {
  const message = `The connection to the agent was lost, and its task with it: ${why}`
  return new AgentError(message, { failureType: 'connection_lost', retryable: true, cause })
}
