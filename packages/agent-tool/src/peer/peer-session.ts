/** One conversation with a task or tool of a peer: see `peer-connector.ts` for the rules. */
import { AgentError } from '@tutti/agent-call'

import { notAgainFailure } from './peer-dialect.ts'
import { nameFailure, refusalFailure, unansweredFailure, type Asked } from './peer-failure.ts'
import { peerRequest, type PeerReply } from './peer-request.ts'
import { ReportedEvents, type PendingRequests } from './pending-requests.ts'

import type { PeerAddress, PeerKind } from './peer-address.ts'
import type { Clock } from '@tutti/core'
import type { AgentCall, AgentSession, AgentTurn, AgentUpdate } from '@tutti/agent-call'
import type { SocketLink } from '@tutti/net'
import type { ClientMessage, TaskRequest, ToolRequest } from '@tutti/protocol'

/** What the calls of one tool share. */
export interface PeerShared {
  readonly address: PeerAddress
  /** Who asks. */
  readonly from: string
  readonly clock: Pick<Clock, 'elapsed'>
  readonly pending: PendingRequests
  /** The link to use: the one that is there, or a new one. */
  readonly link: () => SocketLink<PeerReply>
  /** What the name stands for, when that is known. */
  kind: PeerKind | undefined
}

/** A request that is under way. */
interface UnderWay {
  readonly request: TaskRequest | ToolRequest
  /** What the call is known by. */
  readonly words: readonly (string | number)[]
  /** The run that does the task, once the peer has said it; undefined from a peer that does not. */
  readonly accepted: PromiseWithResolvers<string | undefined>
  link?: SocketLink<PeerReply>
  wasSent: boolean
  wasCancelled: boolean
}

/** A message, and under which id its replies come. */
interface Exchange {
  readonly id: string
  readonly message: ClientMessage
  readonly signal: AbortSignal
  /** Whether it is still to be sent, asked when the link is open. */
  readonly onOpen?: (link: SocketLink<PeerReply>) => boolean
  readonly onReply?: (reply: PeerReply) => void
}

/** Answers to a cancel after which the run does nothing more. */
const CANCELLED = ['CANCELLING', 'CANCELLED', 'NOT_RUNNING', 'NOT_FOUND']

/** Asks a peer, turn by turn. */
export class PeerSession implements AgentSession {
  readonly protocol = 'ensemble'
  readonly #shared: PeerShared
  readonly #call: AgentCall
  #underWay: UnderWay | undefined

  constructor(shared: PeerShared, call: AgentCall) {
    this.#shared = shared
    this.#call = call
  }

  async *send(turn: AgentTurn): AsyncGenerator<AgentUpdate> {
    const kind = this.#shared.kind ?? (await this.#findKind())
    const underWay = this.#begin(kind, turn)
    this.#underWay = underWay
    try {
      yield* this.#askTwice(underWay)
    } finally {
      // Nothing more is heard of the request.
      underWay.accepted.resolve(undefined)
    }
  }

  async cancel(signal: AbortSignal): Promise<void> {
    const underWay = this.#underWay
    if (underWay === undefined) return
    underWay.wasCancelled = true
    if (!underWay.wasSent) return
    if (underWay.request.type === 'tool_request') underWay.link?.leave(underWay.request.requestId)
    else await this.#cancelRun(underWay, signal)
  }

  #begin(kind: PeerKind, { input, index }: AgentTurn): UnderWay {
    const { address, from, clock, pending } = this.#shared
    const { idempotencyKey, traceparent, remaining } = this.#call
    const words = [idempotencyKey, kind, address.name, index, JSON.stringify(input) ?? '']
    const now = clock.elapsed()
    const { requestId, askedAt } = pending.find(words, now)
    const request = peerRequest({
      kind,
      name: address.name,
      from,
      requestId,
      input,
      traceparent,
      // The peer counts from when it took the request, which may be that of an earlier try.
      deadlineMs: now - askedAt + remaining().timeMs,
    })
    const accepted = Promise.withResolvers<string | undefined>()
    return { request, words, accepted, wasSent: false, wasCancelled: false }
  }

  /** Asks, and once more over a new link when the first is lost. */
  async *#askTwice(underWay: UnderWay): AsyncGenerator<AgentUpdate> {
    const reported = new ReportedEvents()
    let loss: AgentError
    try {
      yield* this.#ask(underWay, reported)
      return
    } catch (error) {
      if (!isLost(error) || !this.#mayAskAgain(underWay)) throw error
      loss = error
    }
    const { logger } = this.#call
    const facts = { agent: this.#shared.address.uri, reason: loss.message }
    logger.warn('The connection to a peer was lost; its task is asked for again', facts)
    reported.startAgain()
    try {
      yield* this.#ask(underWay, reported)
    } catch (error) {
      const isUnreachable = error instanceof AgentError && error.failureType === 'unreachable'
      throw isUnreachable ? notAgainFailure(loss, error) : error
    }
  }

  async *#ask(underWay: UnderWay, reported: ReportedEvents): AsyncGenerator<AgentUpdate> {
    const { request, accepted } = underWay
    const replies = this.#exchange({
      id: request.requestId,
      message: request,
      signal: this.#call.signal,
      onOpen(link) {
        underWay.link = link
        underWay.wasSent ||= !underWay.wasCancelled
        return !underWay.wasCancelled
      },
      onReply(reply) {
        if (reply.type === 'task_accepted') accepted.resolve(reply.runId)
      },
    })
    for await (const reply of replies) {
      const update = this.#read(reply, underWay, reported)
      if (update !== undefined) yield update
      if (update?.kind === 'end') return
    }
  }

  /** What a reply tells; undefined when it is nothing. */
  #read(
    reply: PeerReply,
    { request, words }: UnderWay,
    reported: ReportedEvents,
  ): AgentUpdate | undefined {
    const asked = askedOf(request)
    switch (reply.type) {
      case 'task_accepted':
      case 'task_progress':
        return reported.isNew(reply) ? { kind: 'chunk', chunk: reply } : undefined
      case 'task_response':
      case 'tool_response': {
        if (reply.status === 'COMPLETED') {
          return { kind: 'end', state: 'completed', output: reply.result ?? '' }
        }
        this.#end(words)
        throw unansweredFailure(reply, asked)
      }
      case 'error':
        if (reply.requestId !== undefined) throw refusalFailure(reply, asked)
        this.#call.logger.warn('A peer refused a message', {
          agent: this.#shared.address.uri,
          reason: `${reply.error}: ${reply.message}`,
        })
        return undefined
      default:
        return undefined
    }
  }

  /** Asks the peer what the name stands for; what it says holds for all calls. */
  async #findKind(): Promise<PeerKind> {
    const { address, from } = this.#shared
    const requestId = `capabilities-${crypto.randomUUID()}`
    const message = { type: 'capability_query', requestId, from } as const
    const { signal } = this.#call
    for await (const reply of this.#exchange({ id: requestId, message, signal })) {
      if (reply.type === 'error' && reply.requestId !== undefined) {
        throw refusalFailure(reply, { kind: 'task', name: address.name })
      }
      if (reply.type !== 'capability_response') continue
      const [only, ...others] = reply.capabilities.filter(({ name }) => name === address.name)
      if (only === undefined || others.length > 0) {
        throw nameFailure(address.name, reply.capabilities)
      }
      this.#shared.kind = only.type === 'TASK' ? 'task' : 'tool'
      return this.#shared.kind
    }
    throw signal.reason
  }

  async #cancelRun({ accepted, words }: UnderWay, signal: AbortSignal): Promise<void> {
    const { logger } = this.#call
    const { uri } = this.#shared.address
    const runId = await Promise.race([accepted.promise, aborted(signal)])
    if (runId === undefined) {
      logger.debug('The task of a peer is not cancelled: its run is not known', { agent: uri })
      return
    }
    const message = { type: 'run_control', runId, action: 'cancel' } as const
    const onOpen = (): true => {
      this.#end(words)
      return true
    }
    try {
      for await (const reply of this.#exchange({ id: runId, message, signal, onOpen })) {
        if (reply.type !== 'run_control_ack') continue
        const { status, message: reason } = reply
        if (CANCELLED.includes(status)) return
        logger.warn('A peer does not cancel its task', { agent: uri, runId, status, reason })
        return
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown'
      logger.warn('A peer could not be told to cancel its task', { agent: uri, runId, reason })
    }
  }

  /** Sends a message and gives its replies, until the reader has enough. Fails when `signal` aborts. */
  async *#exchange({ id, message, signal, onOpen, onReply }: Exchange): AsyncGenerator<PeerReply> {
    const replies = new UpdateQueue<PeerReply>()
    const link = this.#shared.link()
    const release = link.hold(id, {
      onOpen() {
        if (onOpen?.(link) !== false) link.send(message)
      },
      onMessage(reply) {
        onReply?.(reply)
        replies.add(reply)
      },
      onBytes: this.#call.onBytes,
      onEnd(reason) {
        replies.end(reason)
      },
    })
    const stop = (): void => {
      replies.end(signal.reason)
      release()
    }
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    try {
      yield* replies
    } finally {
      signal.removeEventListener('abort', stop)
      release()
    }
  }

  /** The request is over, and the same call after it another one. */
  #end(words: UnderWay['words']): void {
    this.#shared.pending.end(words, this.#shared.clock.elapsed())
  }

  /** A tool is called once: the peer ends the call with its connection. */
  #mayAskAgain({ request, wasCancelled }: UnderWay): boolean {
    return request.type === 'task_request' && !wasCancelled && !this.#call.signal.aborted
  }
}

function askedOf(request: TaskRequest | ToolRequest): Asked {
  return request.type === 'task_request'
    ? { kind: 'task', name: request.task }
    : { kind: 'tool', name: request.tool }
}

function isLost(error: unknown): error is AgentError {
  return error instanceof AgentError && error.failureType === 'connection_lost' && error.retryable
}

/** Resolves with nothing when `signal` aborts. */
function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}

/** A queue that is written by events and read as they come. */
export class UpdateQueue<Item> implements AsyncIterable<Item> {
  readonly #items: Item[] = []
  #end: { readonly reason: unknown } | undefined
  #wake = Promise.withResolvers<void>()

  /** Adds an item, unless the queue has ended. */
  add(item: Item): void {
    if (this.#end !== undefined) return
    this.#items.push(item)
    this.#wake.resolve()
  }

  /** Has the reader fail with `reason` when it has read what is there; the first reason counts. */
  end(reason: unknown): void {
    this.#end ??= { reason }
    this.#wake.resolve()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, never> {
    for (;;) {
      // Nothing may come between the look that finds nothing and the wait.
      while (this.#items.length > 0) yield* this.#items.splice(0)
      if (this.#end !== undefined) throw this.#end.reason
      this.#wake = Promise.withResolvers()
      await this.#wake.promise
    }
  }
}
