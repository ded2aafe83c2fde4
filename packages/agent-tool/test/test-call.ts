/** Calls connectors directly, without a tool. */
import { systemClock } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { onTestFinished } from 'vitest'

import type {
  AgentAnswer,
  AgentCall,
  AgentConnector,
  AgentSession,
  AgentUpdate,
} from '@tutti/agent-call/internal'

/** A call that a test can observe and abort. */
export interface TestCall extends AgentCall {
  /** Number of byte arrivals. */
  readonly arrivals: number
  /** Aborts the call, so that all its resources must be released. */
  abort(reason?: unknown): void
}

/** Creates a call without limits and without a reviewer; it is aborted when the test ends. */
export function testCall(settings: Partial<AgentCall> = {}): TestCall {
  const controller = new AbortController()
  onTestFinished(() => {
    controller.abort()
  })
  let arrivals = 0
  return {
    mode: 'sync',
    signal: controller.signal,
    onBytes: () => {
      arrivals += 1
    },
    remaining: () => ({ timeMs: Infinity, costUsd: Infinity, tokens: Infinity }),
    traceparent: undefined,
    idempotencyKey: 'call-1',
    clock: systemClock,
    logger: silentLogger,
    hasReviewer: false,
    hasReply: false,
    requestAnswer: () => Promise.reject(new Error('No reviewer')),
    ...settings,
    get arrivals() {
      return arrivals
    },
    abort(reason) {
      controller.abort(reason)
    },
  }
}

/** Result of one turn. */
export interface TestTurn {
  readonly updates: readonly AgentUpdate[]
  readonly chunks: readonly unknown[]
  readonly answer: AgentAnswer
}

/** Sends a turn and waits for its answer. */
export async function sendTurn(
  session: AgentSession,
  input: unknown,
  index = 0,
): Promise<TestTurn> {
  const updates: AgentUpdate[] = []
  for await (const update of session.send({ input, index })) updates.push(update)
  const answer = updates.at(-1)
  if (answer?.kind !== 'end') throw new Error('The turn has no answer')
  const chunks = updates.flatMap((update) => (update.kind === 'chunk' ? [update.chunk] : []))
  return { updates, chunks, answer }
}

/** Sends one turn in a new session. */
export async function askOnce(
  connector: AgentConnector,
  input: unknown,
  call: AgentCall = testCall(),
): Promise<TestTurn> {
  return sendTurn(await connector.connect(call), input)
}
