/**
 * Sends one message to an agent and follows its task until it settles, across lost connections.
 *
 *   stream ──ends early, lost──▶ subscribe ─▶ get task ─▶ subscribe … ─▶ get task … ─▶ settled
 *   send, not waiting ──────────────────────▶ get task … ────────────────────────────▶ settled
 *
 * AGENT-Q1 A streaming agent gets a streaming request, whose first object names the task to cancel. Other agents are
 *    asked to respond immediately, and their task is polled at growing intervals. When an agent rejects one method
 *    as unsupported, the next one is used; the rejected request had no effect.
 * AGENT-Q2 Once the task is known, its message is not sent again. A stream that ends early or breaks is subscribed to
 *    again, `MAX_SUBSCRIPTIONS` times without a new object; then the task is polled.
 * AGENT-Q3 `MAX_LOST` failed polls in a row are a lost connection, and so is a task that the agent no longer knows. An
 *    error that the agent sends is final.
 */
import type { Clock, Logger } from '@tutti/core'
import { backoffMs, sleep } from '@tutti/core/internal'
import { AgentError } from '@tutti/agent-call/internal'

import {
  toA2aFailure,
  isInvalidParams,
  isRefusal,
  isAgentError,
  isUnknownTask,
} from './a2a-failure.ts'

import type { A2aPeer } from './a2a-peer.ts'
import type { AgentTaskState } from './task-state.ts'
import type { A2aStreamItem, A2aSendRequest } from './wire.ts'

/** Maximum number of subscriptions in a row without a new object. */
export const MAX_SUBSCRIPTIONS = 3

/** Maximum number of polls in a row without an answer. */
export const MAX_LOST = 5

/** Delays between two polls. */
const POLL_BACKOFF = { firstMs: 500, maxMs: 5_000 }

/** Context of sending a message. */
export interface AskContext {
  readonly peer: A2aPeer
  /** Receives every object that arrives. */
  readonly record: AgentTaskState
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
}

/**
 * Sends a message and yields the objects that arrive, in order, until its task settles.
 *
 * @throws {AgentError} for every other outcome.
 * @throws the reason of the signal when it aborts.
 */
export async function* askAgent(
  request: A2aSendRequest,
  context: AskContext,
): AsyncGenerator<A2aStreamItem, void> {
  const { peer, record } = context
  try {
    if (peer.streams && (yield* stream(request, context))) {
      if (!record.isSettled) yield* follow(context, { subscriptions: MAX_SUBSCRIPTIONS })
      if (peer.losesAppend) await restoreArtifacts(context)
      return
    }
    const reply = await send(request, context)
    yield* applyItems([reply], context)
    if (!record.isSettled) yield* follow(context, { subscriptions: 0 })
  } catch (thrown) {
    context.signal.throwIfAborted()
    throw toA2aFailure(thrown)
  }
}

/** Follows the stream of a message. Returns false when the agent does not support streaming. */
async function* stream(
  request: A2aSendRequest,
  context: AskContext,
): AsyncGenerator<A2aStreamItem, boolean> {
  const { peer, record, logger, signal } = context
  const sentTo = record.taskId
  let hasBegun = false
  try {
    for await (const item of applyItems(peer.stream(request), context)) {
      hasBegun = true
      yield item
    }
    record.confirm()
  } catch (thrown) {
    signal.throwIfAborted()
    if (!hasBegun && isRefusal(thrown)) return false
    if (!hasBegun || isAgentError(thrown) || record.taskId === undefined) throw thrown
    logger.debug('Lost the stream of an agent', { taskId: record.taskId, error: thrown })
  }
  if (!hasBegun && sentTo === undefined) throw noAnswer()
  return true
}

async function send(request: A2aSendRequest, { peer, signal }: AskContext): Promise<A2aStreamItem> {
  try {
    return await peer.send(request, { waits: false })
  } catch (thrown) {
    signal.throwIfAborted()
    if (!isInvalidParams(thrown)) throw thrown
    return peer.send(request, { waits: true })
  }
}

/** Subscribes and polls until the task settles. */
async function* follow(
  context: AskContext,
  options: { readonly subscriptions: number },
): AsyncGenerator<A2aStreamItem, void> {
  const { peer, record, clock, signal } = context
  const { taskId } = record
  if (taskId === undefined) throw noAnswer()
  let { subscriptions } = options
  // Number of delays so far; the first subscription, and one after new objects, needs none.
  let delays = subscriptions > 0 ? -1 : 0
  for (let lost = 0; ; delays += 1) {
    if (delays >= 0) await sleep(clock, backoffMs(delays, POLL_BACKOFF), signal)
    signal.throwIfAborted()
    if (subscriptions > 0) {
      const { isRefused, updates } = yield* subscribe(taskId, context)
      // The first object is the snapshot.
      if (updates > 1) [subscriptions, delays] = [MAX_SUBSCRIPTIONS, -1]
      else subscriptions = isRefused ? 0 : subscriptions - 1
      if (record.isSettled) return
    }
    const before = JSON.stringify(stateSnapshot(record))
    const asked = await poll(taskId, peer, { signal, lost })
    lost = asked === undefined ? lost + 1 : 0
    if (asked === undefined) continue
    record.apply(asked)
    record.confirm()
    if (record.isSettled || JSON.stringify(stateSnapshot(record)) !== before) yield asked
    if (record.isSettled) return
  }
}

/** Subscribes to the task until the stream ends or breaks. */
async function* subscribe(
  taskId: string,
  context: AskContext,
): AsyncGenerator<A2aStreamItem, { readonly isRefused: boolean; readonly updates: number }> {
  let updates = 0
  try {
    for await (const one of applyItems(context.peer.subscribe(taskId), context)) {
      updates += 1
      yield one
    }
    return { isRefused: false, updates }
  } catch (thrown) {
    context.signal.throwIfAborted()
    const isLost = thrown instanceof AgentError && thrown.retryable
    context.logger.debug('Failed to subscribe to a task of an agent', { taskId, error: thrown })
    return { isRefused: !isLost, updates }
  }
}

/**
 * Replaces the artifacts of an ended task by those of its snapshot, because its stream did not mark appended
 * parts.
 */
async function restoreArtifacts({ peer, record, logger, signal }: AskContext): Promise<void> {
  const { taskId, artifacts } = record
  if (taskId === undefined || artifacts.length === 0) return
  try {
    record.apply({ task: await peer.getTask(taskId) })
  } catch (thrown) {
    signal.throwIfAborted()
    logger.warn('The artifacts of an agent may be incomplete', { taskId, error: thrown })
  }
}

/** Returns the task; undefined when the poll failed and may be repeated. */
async function poll(
  taskId: string,
  peer: A2aPeer,
  { signal, lost }: { readonly signal: AbortSignal; readonly lost: number },
): Promise<A2aStreamItem | undefined> {
  try {
    return { task: await peer.getTask(taskId) }
  } catch (thrown) {
    signal.throwIfAborted()
    if (isUnknownTask(thrown)) {
      throw createLossFailure(`the agent no longer knows its task "${taskId}"`, thrown)
    }
    const failure = toA2aFailure(thrown)
    if (!failure.retryable) throw failure
    if (lost + 1 < MAX_LOST) return undefined
    throw createLossFailure(failure.message, thrown)
  }
}

/** Applies each object to the state before yielding it; ends when the task has settled. */
async function* applyItems(
  source: AsyncIterable<A2aStreamItem> | readonly A2aStreamItem[],
  { record }: AskContext,
): AsyncGenerator<A2aStreamItem, void> {
  for await (const item of source) {
    if (Object.keys(item).length === 0) continue
    record.apply(item)
    yield item
    if (record.isSettled) return
  }
}

function stateSnapshot({ status, artifacts }: AgentTaskState): unknown {
  return [status, artifacts]
}

function noAnswer(): AgentError {
  return new AgentError('The agent ended its response without a message or a task', {
    failureType: 'invalid_response',
    retryable: false,
  })
}

function createLossFailure(why: string, cause: unknown): AgentError {
  const message = `The connection to the agent was lost, and its task with it: ${why}`
  return new AgentError(message, { failureType: 'connection_lost', retryable: true, cause })
}
