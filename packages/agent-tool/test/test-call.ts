/** A try of a call as a connector is given it, without a tool around it. */
import { silentLogger, systemClock } from '@tutti/core'
import { onTestFinished } from 'vitest'

import type {
  AgentAnswer,
  AgentCall,
  AgentConnector,
  AgentSession,
  AgentUpdate,
} from '@tutti/agent-call'

/** A call, and what a test sees and does of it. */
export interface TestCall extends AgentCall {
  /** How often bytes have arrived. */
  readonly arrivals: number
  /** Ends the try: everything must be let go of. */
  abort(reason?: unknown): void
}

/** Makes a call without limits and without anybody to ask; it is over when the test is. */
export function testCall(facts: Partial<AgentCall> = {}): TestCall {
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
    requestAnswer: () => Promise.reject(new Error('There is nobody to ask')),
    ...facts,
    get arrivals() {
      return arrivals
    },
    abort(reason) {
      controller.abort(reason)
    },
  }
}

/** What came of one turn. */
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
  if (answer?.kind !== 'end') throw new Error('The turn has no end')
  const chunks = updates.flatMap((update) => (update.kind === 'chunk' ? [update.chunk] : []))
  return { updates, chunks, answer }
}

/** Asks an agent once. */
export async function askOnce(
  connector: AgentConnector,
  input: unknown,
  call: AgentCall = testCall(),
): Promise<TestTurn> {
  return sendTurn(await connector.connect(call), input)
}
