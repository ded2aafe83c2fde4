/**
 * A conversation with an agent over A2A.
 *
 * V1 A task that asks for something is answered with its own identity; after a task has ended, what ties turns
 *    together is the context alone.
 * V2 The limits of the call go with every message, and what was used comes back as sums of the conversation.
 * V3 A message has the same identity whenever the same call is made again.
 */
import { USAGE_EXTENSION } from '@tutti/protocol'

import { limitsMetadata } from '../usage-metadata.ts'
import { toA2aAnswer, partialOf } from './answer.ts'
import { takesData, type AgentCard } from './agent-card.ts'
import { askAgent } from './ask-agent.ts'
import { UsageLedger } from './usage.ts'
import { AgentTaskState } from './task-state.ts'

import type { AgentCall, AgentSession, AgentTurn, AgentUpdate } from '@tutti/agent-call'
import type { A2aPeer } from './a2a-peer.ts'
import type { A2aStreamItem, A2aPart, A2aSendRequest } from './wire.ts'

/** What a conversation is held with. */
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

  /** Sends one turn; with `streaming` each object that the agent sends is a chunk. */
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
    for await (const news of askAgent(request, { peer, record, clock, logger, signal })) {
      const update = this.#update(news)
      if (update !== undefined) yield update
    }
    yield toA2aAnswer(record)
  }

  /** Asks the agent to cancel its task, if there is one that has not ended. Never rejects. */
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

  /** What the task has made so far. */
  partial(): unknown {
    return partialOf(this.#record)
  }

  #request({ input, index }: AgentTurn): A2aSendRequest {
    const { card, call } = this.#options
    const { taskId, contextId } = this.#record
    const metadata = limitsMetadata(call.remaining())
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

  #update(news: A2aStreamItem): AgentUpdate | undefined {
    const usage = this.#ledger.add(news, this.#record.taskId)
    const used = usage === undefined ? {} : { usage }
    if (this.#options.call.mode === 'streaming') return { kind: 'chunk', chunk: news, ...used }
    return usage === undefined ? undefined : { kind: 'usage', usage }
  }
}

/** An input as a part: text as it is, anything else as data to an agent that takes it, else as its JSON. */
function toPart(input: unknown, card: AgentCard): A2aPart {
  if (typeof input === 'string') return { text: input }
  if (input !== undefined && input !== null && takesData(card)) {
    return { data: input, mediaType: 'application/json' }
  }
  return { text: JSON.stringify(input ?? null) }
}
