/**
 * The way to an agent over the tasks wire: `/tasks/send`, `/tasks/sendSubscribe` and `/tasks/cancel`, the wire of
 * the seed and of JamJet.
 *
 *   turn ─POST─▶ send ─▶ one JSON ─────────────▶ end
 *             └▶ sendSubscribe ─▶ line … line ─▶ chunk … chunk, end
 *
 * T1 Requests are those of `tasks-request.ts`. Each turn is a request of its own; nothing ties them together but
 *    the id of a task that has asked something.
 * T2 A whole body is the answer, also one that is an object with `output`: what of it is said next is not decided
 *    here. The answer of a stream is its last value, null when it had none.
 * T3 Each value of a stream is told when it has arrived, with what it says was used; also the last one, and one
 *    that then turns out to be a failure.
 * T4 A cancel is sent when the id of the task is known: from the first value that has one. Its answer does not
 *    count.
 * T5 What a task has used counts also when it failed, whatever the status of the answer.
 */
import { AgentError } from '@tutti/agent-call'
import { watchBody, type GuardedFetch } from '@tutti/net'

import { agentFetch, type AgentHttpOptions } from '../http/agent-fetch.ts'
import { readAgentUrl, shownUrl, urlBelow } from '../http/agent-url.ts'
import { readJsonAnswer, toRefusal } from './read-answer.ts'
import { streamValues } from './stream-values.ts'
import { TaskUsage } from './task-usage.ts'
import { tasksRequest, type TasksMethod } from './tasks-request.ts'
import { toTasksAnswer, taskIdOf, unwrapEnvelope } from './wire-value.ts'

import type {
  AgentCall,
  AgentConnector,
  AgentSession,
  AgentTurn,
  AgentUpdate,
  AgentUsageReport,
} from '@tutti/agent-call'

/** How an agent is asked over the tasks wire. */
export interface TasksConnectorOptions extends AgentHttpOptions {
  /** Where the agent is; `/tasks/…` is below it. */
  readonly url: string | URL
  /** Bytes of one line of a stream, at most. @default 4 MiB, as a2a-js has it for events */
  readonly maxLineBytes?: number
  /** Bytes of an answer that is no stream, at most. @default 16 MiB */
  readonly maxBodyBytes?: number
}

const DEFAULT_MAX_LINE_BYTES = 4 * 1_048_576
const DEFAULT_MAX_BODY_BYTES = 16 * 1_048_576

/**
 * Makes the way to one agent; nothing is sent before the first call.
 *
 * @throws {TypeError} for an address or headers that cannot be used.
 * @throws {RangeError} for limits that are none.
 */
export function tasksConnector(options: TasksConnectorOptions): AgentConnector {
  const url = readAgentUrl(options.url, options)
  const line: Line = {
    url,
    fetch: agentFetch(url, options),
    maxLineBytes: limit('maxLineBytes', options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES),
    maxBodyBytes: limit('maxBodyBytes', options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES),
  }
  return {
    uri: shownUrl(url),
    protocol: 'tasks',
    connect: async (call) => new TasksSession(line, call),
    close: () => line.fetch.close(),
  }
}

function limit(name: string, bytes: number): number {
  if (bytes >= 1) return bytes
  throw new RangeError(`Cannot ask an agent: ${name} must be >= 1, got ${bytes}`)
}

/** What all calls share. */
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
  /** The task at hand, once it is known. */
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
    const response = await fetch(urlBelow(url, '/tasks/cancel'), this.#init(body, signal))
    await response.body?.cancel()
  }

  async #post(method: TasksMethod, input: unknown): Promise<Response> {
    const { signal, onBytes, remaining } = this.#call
    const { url, fetch } = this.#line
    const request = { method, input, remaining: remaining(), taskId: this.#taskId }
    const init = this.#init(tasksRequest(request), signal)
    const response = await fetch(urlBelow(url, `/${method}`), init)
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
      const agent = shownUrl(this.#line.url)
      this.#call.logger.warn('A line of an agent was left out: it is not UTF-8', { agent, bytes })
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
    this.#taskId ??= taskIdOf(value)
    return this.#usage.add(value)
  }
}
