/**
 * A conversation with an agent over A2A.
 *
 * AGENT-V1 An answer to a task's question has the id of the task. After a task has ended, only the context id connects
 *    turns.
 * AGENT-V2 The limits of the call go with every message; usage is reported as sums of the conversation.
 * AGENT-V3 A repeated call sends messages with the same ids.
 */
import { USAGE_EXTENSION } from '@tutti/protocol/internal'

import { toLimitsMetadata } from '../usage-metadata.ts'
import { toA2aAnswer, readPartialOutput } from './answer.ts'
import { takesData, type AgentCard } from './agent-card.ts'
import { askAgent } from './ask-agent.ts'
import { UsageLedger } from './usage.ts'
import { AgentTaskState } from './task-state.ts'

import type { AgentCall, AgentSession, AgentTurn, AgentUpdate } from '@tutti/agent-call/internal'
import type { A2aPeer } from './a2a-peer.ts'
import type { A2aStreamItem, A2aPart, A2aSendRequest } from './wire.ts'

/** Parts of a conversation. */
export interface A2aSessionOptions {
  readonly peer: A2aPeer
  readonly card: AgentCard
  readonly call: AgentCall
}

/** One conversation. */
export class A2aSession implements AgentSession {
  readonly protocol = 'a2a'
  readonly #options: A2aSessionOptions
  readonly #ledger = new UsageLedger()
  #record = new AgentTaskState()

  constructor(options: A2aSessionOptions) {
    this.#options = options
  }

  /** Sends one turn; in `streaming` mode, each object from the agent is a chunk. */
  async *send(turn: AgentTurn): AsyncGenerator<AgentUpdate> {
    const { peer, call } = this.#options
    const { clock, logger, signal } = call
    const { contextId } = this.#record
    if (this.#record.hasEnded) {
      this.#record = new AgentTaskState(contextId === undefined ? {} : { contextId })
    }
    const record = this.#record
    const request = this.#request(turn)
    record.resume()
    for await (const item of askAgent(request, { peer, record, clock, logger, signal })) {
      const update = this.#update(item)
      if (update !== undefined) yield update
    }
    yield toA2aAnswer(record)
  }

  /** Requests the cancellation of the task, if it has not ended. Never rejects. */
  async cancel(signal: AbortSignal): Promise<void> {
    const { peer, call } = this.#options
    const { taskId, hasEnded } = this.#record
    if (taskId === undefined || hasEnded) return
    try {
      await peer.cancelTask(taskId, signal)
    } catch (error) {
      call.logger.debug('An agent did not cancel its task', { taskId, error })
    }
  }

  /** Returns the output of the task so far. */
  partial(): unknown {
    return readPartialOutput(this.#record)
  }

  #request({ input, index }: AgentTurn): A2aSendRequest {
    const { card, call } = this.#options
    const { taskId, contextId } = this.#record
    const metadata = toLimitsMetadata(call.remaining())
    const limits = metadata === undefined ? {} : { metadata }
    const listed = card.extensions.includes(USAGE_EXTENSION)
    const message = {
      messageId: `${call.idempotencyKey}-${index}`,
      role: 'ROLE_USER',
      parts: [toPart(input, card)],
      ...(taskId === undefined ? {} : { taskId }),
      ...(contextId === undefined ? {} : { contextId }),
      ...(listed && metadata !== undefined ? { extensions: [USAGE_EXTENSION] } : {}),
      ...limits,
    }
    return { message, ...limits }
  }

  #update(item: A2aStreamItem): AgentUpdate | undefined {
    const usage = this.#ledger.add(item, this.#record.taskId)
    const used = usage === undefined ? {} : { usage }
    if (this.#options.call.mode === 'streaming') return { kind: 'chunk', chunk: item, ...used }
    return usage === undefined ? undefined : { kind: 'usage', usage }
  }
}

/**
 * Converts an input to a part: text unchanged, other values as data if the agent accepts it, else as JSON
 * text.
 */
function toPart(input: unknown, card: AgentCard): A2aPart {
  if (typeof input === 'string') return { text: input }
  if (input !== undefined && input !== null && takesData(card)) {
    return { data: input, mediaType: 'application/json' }
  }
  return { text: JSON.stringify(input ?? null) }
}
