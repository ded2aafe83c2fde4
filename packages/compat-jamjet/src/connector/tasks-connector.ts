/**
 * Connects to an agent over the `/tasks` wire: `/tasks/send`, `/tasks/sendSubscribe` and `/tasks/cancel`.
 * AgentEnsemble and JamJet use it too.
 *
 *   turn ─POST─▶ send ─▶ one JSON ─────────────▶ end
 *             └▶ sendSubscribe ─▶ line … line ─▶ chunk … chunk, end
 *
 * JAM-T1 `tasks-request.ts` creates the requests. Each turn is a separate request; only the id of a task that asked a
 *    question connects turns.
 * JAM-T2 The whole body is the answer, also an object with `output`. The answer of a stream is its last value, null
 *    for an empty stream.
 * JAM-T3 Each value of a stream is reported when it arrives, with its usage; also the last one, and one that turns
 *    out to be a failure.
 * JAM-T4 A cancel is sent when the id of the task is known: from the first value that has one. Its response is
 *    ignored.
 * JAM-T5 The usage of a task also counts when it failed, regardless of the response status.
 */
import { AgentError } from '@tutti/agent-call/internal'
import { watchBody, type GuardedFetch } from '@tutti/net/internal'
import { findExcessProblems } from '@tutti/protocol/internal'

import type { ConnectorFactory } from '@tutti/agent-tool/adapter'
import {
  type AgentHttpOptions,
  appendPath,
  createAgentFetch,
  formatShownUrl,
  readAgentUrl,
} from '@tutti/agent-tool/internal'
import { readJsonAnswer, toRefusal } from './read-answer.ts'
import { streamValues } from './stream-values.ts'
import { TaskUsage } from './task-usage.ts'
import { createTasksRequest, type TasksMethod } from './tasks-request.ts'
import { toTasksAnswer, readTaskId, unwrapEnvelope } from './wire-value.ts'

import type {
  AgentCall,
  AgentConnector,
  AgentSession,
  AgentTurn,
  AgentUpdate,
  AgentUsageReport,
} from '@tutti/agent-call/internal'

/** Options of a connection over the `/tasks` wire. */
export interface TasksConnectorOptions extends AgentHttpOptions {
  /** Base address of the agent, without `/tasks`. */
  readonly url: string | URL
  /** Maximum bytes of one line of a stream. @default 4 MiB, the limit of a2a-js for events */
  readonly maxLineBytes?: number
  /** Maximum bytes of a response that is not a stream. @default 16 MiB */
  readonly maxBodyBytes?: number
}

const DEFAULT_MAX_LINE_BYTES = 4 * 1_048_576
const DEFAULT_MAX_BODY_BYTES = 16 * 1_048_576

/**
 * Creates a connector to one agent; it connects at the first call. In `connectors` of `agentTool`, it serves `https:`
 * agents without an A2A card.
 *
 * @throws {TypeError} for an invalid address or header.
 * @throws {RangeError} for an invalid limit.
 */
export const tasksConnector: ConnectorFactory<TasksConnectorOptions> = Object.assign(
  createTasksConnector,
  { schemes: ['http', 'https'] },
)

function createTasksConnector(options: TasksConnectorOptions): AgentConnector {
  const url = readAgentUrl(options.url, options)
  const line: Line = {
    url,
    fetch: createAgentFetch(url, options),
    maxLineBytes: limit('maxLineBytes', options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES),
    maxBodyBytes: limit('maxBodyBytes', options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES),
  }
  return {
    uri: formatShownUrl(url),
    protocol: 'tasks',
    connect: async (call) => new TasksSession(line, call),
    close: () => line.fetch.close(),
  }
}

function limit(name: string, bytes: number): number {
  const tooSmall = bytes >= 1 ? [] : [`${name} must be >= 1, got ${bytes}`]
  const [problem] = [...tooSmall, ...findExcessProblems({ [name]: bytes })]
  if (problem === undefined) return bytes
  throw new RangeError(`Cannot ask an agent: ${problem}`)
}

/** Resources that all calls share. */
interface Line {
  readonly url: URL
  readonly fetch: GuardedFetch
  readonly maxLineBytes: number
  readonly maxBodyBytes: number
}

class TasksSession implements AgentSession {
  readonly protocol = 'tasks'
  readonly #line: Line
  readonly #call: AgentCall
  readonly #usage = new TaskUsage()
  /** Id of the current task, once it is known. */
  #taskId: string | undefined
  #hasAsked = false

  constructor(line: Line, call: AgentCall) {
    this.#line = line
    this.#call = call
  }

  async *send({ input }: AgentTurn): AsyncGenerator<AgentUpdate> {
    if (!this.#hasAsked) {
      this.#taskId = undefined
      this.#usage.begin()
    }
    const isStream = this.#call.mode === 'streaming'
    const method = isStream ? 'tasks/sendSubscribe' : 'tasks/send'
    const response = await this.#post(method, input)
    if (!response.ok) {
      const { clock } = this.#call
      const { maxBodyBytes: maxBytes } = this.#line
      const error = await toRefusal(response, { maxBytes, now: clock.now() })
      const usage = this.#look(error.partial)
      if (usage !== undefined) yield { kind: 'usage', usage }
      throw error
    }
    for await (const update of isStream ? this.#stream(response) : this.#whole(response)) {
      this.#hasAsked = update.kind === 'end' && update.state === 'input_required'
      yield update
    }
  }

  async cancel(signal: AbortSignal): Promise<void> {
    if (this.#taskId === undefined) return
    const { url, fetch } = this.#line
    const body = JSON.stringify({ id: this.#taskId })
    const response = await fetch(appendPath(url, '/tasks/cancel'), this.#init(body, signal))
    await response.body?.cancel()
  }

  async #post(method: TasksMethod, input: unknown): Promise<Response> {
    const { signal, onBytes, remaining } = this.#call
    const { url, fetch } = this.#line
    const request = { method, input, remaining: remaining(), taskId: this.#taskId }
    const init = this.#init(createTasksRequest(request), signal)
    const response = await fetch(appendPath(url, `/${method}`), init)
    onBytes()
    return watchBody(response, onBytes)
  }

  #init(body: string, signal: AbortSignal): RequestInit {
    const { traceparent } = this.#call
    const headers = {
      'content-type': 'application/json',
      ...(traceparent === undefined ? {} : { traceparent }),
    }
    return { method: 'POST', headers, body, signal }
  }

  async *#whole(response: Response): AsyncGenerator<AgentUpdate> {
    const { maxBodyBytes } = this.#line
    const { value, failure } = unwrapEnvelope(await readJsonAnswer(response, maxBodyBytes))
    const usage = this.#look(value)
    if (usage !== undefined) yield { kind: 'usage', usage }
    const answer = failure ?? toTasksAnswer(value, this.#call.mode)
    if (answer.kind === 'failure')
      throw new AgentError(answer.message, { ...answer, partial: value })
    yield answer
  }

  async *#stream(response: Response): AsyncGenerator<AgentUpdate> {
    const { maxLineBytes } = this.#line
    const onUnreadable = (bytes: number): void => {
      const agent = formatShownUrl(this.#line.url)
      this.#call.logger.warn('Skipped a line of an agent that is not UTF-8', { agent, bytes })
    }
    let last: unknown = null
    for await (const line of streamValues(response, { maxLineBytes, onUnreadable })) {
      const { value, failure } = unwrapEnvelope(line)
      const usage = this.#look(value)
      yield { kind: 'chunk', chunk: value, ...(usage === undefined ? {} : { usage }) }
      if (failure !== undefined) throw new AgentError(failure.message, failure)
      last = value
    }
    const answer = toTasksAnswer(last, 'streaming')
    if (answer.kind === 'failure') throw new AgentError(answer.message, answer)
    yield answer
  }

  #look(value: unknown): AgentUsageReport | undefined {
    this.#taskId ??= readTaskId(value)
    return this.#usage.add(value)
  }
}
