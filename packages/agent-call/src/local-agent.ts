/** Agents of this process, as tools ask them. */
import { errorMessage, limitText } from '@tutti/core'
import { AgentError } from './agent-error.ts'
import { isDecided } from './is-decided.ts'
import { textOf } from './text-of.ts'

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
  /**
   * How long it may take to stop after its signal has aborted, in milliseconds, where that is longer than other
   * tools are given: Infinity for one whose work has limits of its own.
   */
  readonly graceMs?: number
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
      yield* updatesOf(answering, onBytes)
    } catch (error) {
      throw asAgentError(error)
    }
  }

  /** An agent of this process hears of it by its signal. */
  async cancel(): Promise<void> {}
}

/** What a generator tells, and then what it returns. It is ended with whoever reads. */
async function* updatesOf(
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

/** @throws {AgentError} for what is no update: it would be lost. */
function toUpdate(value: unknown): AgentUpdate {
  const kind =
    typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined
  // NOTE: each kind of update is told by its `kind`; what else it holds is its author's.
  if (KINDS.some((known) => known === kind)) return value as AgentUpdate
  throw new AgentError(
    `The agent yielded ${limitText(textOf(value), 200)}, which is no update: wanted an object with kind ${KINDS.join(', ')}`,
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
