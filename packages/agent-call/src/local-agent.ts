/** Connects to agents of this process. */
import { errorMessage, limitText } from '@tutti/core/internal'
import { AgentError, isDecided } from './agent-error.ts'
import { toJsonText } from './json-text.ts'

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
   * {@link AgentAnswer} has more fields. An exception is its failure.
   */
  answer(request: LocalAgentRequest): unknown
  /**
   * Time that the agent needs to stop after its signal aborts, in milliseconds, if that is longer than the default
   * of tools; Infinity for an agent whose work has its own limits.
   */
  readonly graceMs?: number
}

/** A request to an agent of this process. */
export interface LocalAgentRequest extends Omit<AgentCall, 'onBytes'>, AgentTurn {
  /** Identifies the conversation: the same for all of its turns. */
  readonly conversationId: string
}

/** Creates a connector to an agent of this process. */
export function localConnector(agent: LocalAgent, uri: string): AgentConnector {
  return {
    uri,
    protocol: 'local',
    ...(agent.graceMs === undefined ? {} : { graceMs: agent.graceMs }),
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
      const answering = await this.#agent.answer({
        ...call,
        ...turn,
        conversationId: this.#conversationId,
      })
      if (!isGenerator(answering)) {
        yield toAnswer(answering)
        return
      }
      yield* readUpdates(answering, onBytes)
    } catch (error) {
      throw asAgentError(error)
    }
  }

  /** Does nothing: the signal stops an agent of this process. */
  async cancel(): Promise<void> {}
}

/** Yields the updates of a generator, then its return value. Ending the iteration ends the generator. */
async function* readUpdates(
  generator: AsyncIterable<unknown, unknown>,
  onUpdate: () => void,
): AsyncGenerator<AgentUpdate> {
  const iterator = generator[Symbol.asyncIterator]()
  let isDone = false
  try {
    while (!isDone) {
      const { done, value } = await iterator.next()
      isDone = done === true
      onUpdate()
      yield isDone ? toAnswer(value) : toUpdate(value)
    }
  } finally {
    if (!isDone) await iterator.return?.()
  }
}

/** @throws {AgentError} for a value that is not an update and would be lost. */
function toUpdate(value: unknown): AgentUpdate {
  const kind =
    typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined
  // NOTE: `kind` identifies an update; its author is responsible for the other fields.
  if (KINDS.some((known) => known === kind)) return value as AgentUpdate
  throw new AgentError(
    `The agent yielded ${limitText(toJsonText(value) || 'nothing', 200)}, expected an object with kind ${KINDS.join(', ')}`,
    { failureType: 'invalid_response', retryable: false },
  )
}

const KINDS = ['chunk', 'usage', 'end'] as const satisfies readonly AgentUpdate['kind'][]

function isGenerator(value: unknown): value is AsyncIterable<unknown, unknown> {
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
