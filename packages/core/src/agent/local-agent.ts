/** Agents of this process, as tools ask them. */
import { errorMessage } from '../errors.ts'
import { AgentError } from './agent-error.ts'
import { isDecided } from './is-decided.ts'

import type {
  AgentAnswer,
  AgentCall,
  AgentConnector,
  AgentSession,
  AgentTurn,
  AgentUpdate,
} from './agent-connector.ts'

/** An agent of this process. */
export interface LocalAgent {
  /**
   * Answers one turn: with a value or a promise of it, or piece by piece with an async generator of
   * {@link AgentUpdate}s whose return value is the answer. A string or any other JSON is a whole answer; an
   * {@link AgentAnswer} can say more. What it throws is its failure.
   */
  answer(request: LocalAgentRequest): unknown
}

/** What an agent of this process is asked. */
export interface LocalAgentRequest extends Omit<AgentCall, 'onBytes'>, AgentTurn {
  /** The same for all turns of one conversation, and for no other. */
  readonly conversationId: string
}

/** Makes the way to an agent of this process. */
export function localConnector(agent: LocalAgent, uri: string): AgentConnector {
  return {
    uri,
    protocol: 'local',
    connect: async (call) => new LocalSession(agent, call),
  }
}

class LocalSession implements AgentSession {
  readonly protocol = 'local'
  readonly #agent: LocalAgent
  readonly #call: AgentCall
  readonly #conversationId = crypto.randomUUID()

  constructor(agent: LocalAgent, call: AgentCall) {
    this.#agent = agent
    this.#call = call
  }

  async *send(turn: AgentTurn): AsyncGenerator<AgentUpdate> {
    const { onBytes, ...call } = this.#call
    try {
      const answering = this.#agent.answer({
        ...call,
        ...turn,
        conversationId: this.#conversationId,
      })
      if (!isGenerator(answering)) {
        yield toAnswer(await answering)
        return
      }
      for (;;) {
        const next = await answering.next()
        onBytes()
        if (next.done === true) {
          yield toAnswer(next.value)
          return
        }
        yield next.value
      }
    } catch (error) {
      throw asAgentError(error)
    }
  }

  /** An agent of this process hears of it by its signal. */
  async cancel(): Promise<void> {}
}

function isGenerator(value: unknown): value is AsyncGenerator<AgentUpdate, unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function toAnswer(value: unknown): AgentAnswer {
  if (isAnswer(value)) return value
  return { kind: 'end', state: 'completed', output: value ?? null }
}

function isAnswer(value: unknown): value is AgentAnswer {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'end'
}

function asAgentError(error: unknown): unknown {
  if (error instanceof AgentError || isDecided(error)) return error
  return new AgentError(`The agent failed: ${errorMessage(error)}`, {
    failureType: 'agent_failed',
    retryable: isRetryable(error),
    cause: error,
  })
}

function isRetryable(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error && error.retryable === true
}
