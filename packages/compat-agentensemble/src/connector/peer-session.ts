/** One conversation with a task or tool of a peer; see `peer-connector.ts` for the rules. */
import { AgentError } from '@tutti/agent-call/internal'

import { createReopenFailure } from './peer-dialect.ts'
import { createNameFailure, toErrorFailure, toResponseFailure, type Asked } from './peer-failure.ts'
import { createPeerRequest, type PeerReply } from './peer-request.ts'
import { ReportedEvents, type PendingRequests } from './pending-requests.ts'

import type { PeerAddress, PeerKind } from './peer-address.ts'
import type { Clock } from '@tutti/core'
import type { AgentCall, AgentSession, AgentTurn, AgentUpdate } from '@tutti/agent-call/internal'
import type { SocketLink } from '@tutti/net/internal'
import type { ClientMessage } from '@tutti/protocol'
import type { TaskRequest, ToolRequest } from '@tutti/protocol/internal'

/** Resources that the calls of one tool share. */
export interface PeerShared {
  readonly address: PeerAddress
  /** Name of the caller. */
  readonly from: string
  readonly clock: Pick<Clock, 'elapsed'>
  readonly pending: PendingRequests
  /** Returns the open link, or opens a new one. */
  readonly link: () => SocketLink<PeerReply>
  /** Kind of the named item, once it is known. */
  kind: PeerKind | undefined
}

/** A pending request. */
interface ActiveRequest {
  readonly request: TaskRequest | ToolRequest
  /** Key that identifies the call. */
  readonly parts: readonly (string | number)[]
  /** Run that executes the task, once the peer has reported it; undefined for a peer that does not. */
  readonly accepted: PromiseWithResolvers<string | undefined>
  link?: SocketLink<PeerReply>
  wasSent: boolean
  wasCancelled: boolean
}

/** A message and the id of its replies. */
interface Exchange {
  readonly id: string
  readonly message: ClientMessage
  readonly signal: AbortSignal
  /** Returns whether the message must still be sent; called when the link is open. */
  readonly onOpen?: (link: SocketLink<PeerReply>) => boolean
  readonly onReply?: (reply: PeerReply) => void
}

/** Replies to a cancel after which the run does no further work. */
const CANCELLED = ['CANCELLING', 'CANCELLED', 'NOT_RUNNING', 'NOT_FOUND']

/** Sends the turns of a conversation to a peer. */
export class PeerSession implements AgentSession {
  readonly protocol = 'ensemble'
  readonly #shared: PeerShared
  readonly #call: AgentCall
  #underWay: ActiveRequest | undefined

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
      // Later replies to the request are ignored.
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

  #begin(kind: PeerKind, { input, index }: AgentTurn): ActiveRequest {
    const { address, from, clock, pending } = this.#shared
    const { idempotencyKey, traceparent, remaining } = this.#call
    const parts = [idempotencyKey, kind, address.name, index, JSON.stringify(input) ?? '']
    const now = clock.elapsed()
    const { requestId, askedAt } = pending.find(parts, now)
    const request = createPeerRequest({
      kind,
      name: address.name,
      from,
      requestId,
      input,
      traceparent,
      // The peer measures from its acceptance of the request, possibly of an earlier attempt.
      deadlineMs: now - askedAt + remaining().timeMs,
    })
    const accepted = Promise.withResolvers<string | undefined>()
    return { request, parts, accepted, wasSent: false, wasCancelled: false }
  }

  /** Sends the request, and again over a new link when the first one is lost. */
  async *#askTwice(underWay: ActiveRequest): AsyncGenerator<AgentUpdate> {
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
    logger.warn('Lost the connection to a peer; requesting its task again', facts)
    reported.startAgain()
    try {
      yield* this.#ask(underWay, reported)
    } catch (error) {
      const isUnreachable = error instanceof AgentError && error.failureType === 'unreachable'
      throw isUnreachable ? createReopenFailure(loss, error) : error
    }
  }

  async *#ask(underWay: ActiveRequest, reported: ReportedEvents): AsyncGenerator<AgentUpdate> {
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

  /** Returns the update in a reply; undefined if it has none. */
  #read(
    reply: PeerReply,
    { request, parts }: ActiveRequest,
    reported: ReportedEvents,
  ): AgentUpdate | undefined {
    const asked = readRequestedItem(request)
    switch (reply.type) {
      case 'task_accepted':
      case 'task_progress':
        return reported.isNew(reply) ? { kind: 'chunk', chunk: reply } : undefined
      case 'task_response':
      case 'tool_response': {
        if (reply.status === 'COMPLETED') {
          return { kind: 'end', state: 'completed', output: reply.result ?? '' }
        }
        this.#end(parts)
        throw toResponseFailure(reply, asked)
      }
      case 'error':
        if (reply.requestId !== undefined) throw toErrorFailure(reply, asked)
        this.#call.logger.warn('A peer rejected a message', {
          agent: this.#shared.address.uri,
          reason: `${reply.error}: ${reply.message}`,
        })
        return undefined
      default:
        return undefined
    }
  }

  /** Asks the peer for the kind of the named item; the reply holds for all calls. */
  async #findKind(): Promise<PeerKind> {
    const { address, from } = this.#shared
    const requestId = `capabilities-${crypto.randomUUID()}`
    const message = { type: 'capability_query', requestId, from } as const
    const { signal } = this.#call
    for await (const reply of this.#exchange({ id: requestId, message, signal })) {
      if (reply.type === 'error' && reply.requestId !== undefined) {
        throw toErrorFailure(reply, { kind: 'task', name: address.name })
      }
      if (reply.type !== 'capability_response') continue
      const [only, ...others] = reply.capabilities.filter(({ name }) => name === address.name)
      if (only === undefined || others.length > 0) {
        throw createNameFailure(address.name, reply.capabilities)
      }
      this.#shared.kind = only.type === 'TASK' ? 'task' : 'tool'
      return this.#shared.kind
    }
    throw signal.reason
  }

  async #cancelRun({ accepted, parts }: ActiveRequest, signal: AbortSignal): Promise<void> {
    const { logger } = this.#call
    const { uri } = this.#shared.address
    const runId = await Promise.race([accepted.promise, aborted(signal)])
    if (runId === undefined) {
      logger.debug('Cannot cancel the task of a peer: its run is not known', { agent: uri })
      return
    }
    const message = { type: 'run_control', runId, action: 'cancel' } as const
    const onOpen = (): true => {
      this.#end(parts)
      return true
    }
    try {
      for await (const reply of this.#exchange({ id: runId, message, signal, onOpen })) {
        if (reply.type !== 'run_control_ack') continue
        const { status, message: reason } = reply
        if (CANCELLED.includes(status)) return
        logger.warn('A peer did not cancel its task', { agent: uri, runId, status, reason })
        return
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown'
      logger.warn('Failed to send a cancel to a peer', { agent: uri, runId, reason })
    }
  }

  /** Sends a message and yields its replies until the reader stops. Throws when `signal` aborts. */
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

  /** Ends the request, so that the same call later is a new request. */
  #end(parts: ActiveRequest['parts']): void {
    this.#shared.pending.end(parts, this.#shared.clock.elapsed())
  }

  /** A tool is called once: the peer ends the call with its connection. */
  #mayAskAgain({ request, wasCancelled }: ActiveRequest): boolean {
    return request.type === 'task_request' && !wasCancelled && !this.#call.signal.aborted
  }
}

function readRequestedItem(request: TaskRequest | ToolRequest): Asked {
  return request.type === 'task_request'
    ? { kind: 'task', name: request.task }
    : { kind: 'tool', name: request.tool }
}

function isLost(error: unknown): error is AgentError {
  return error instanceof AgentError && error.failureType === 'connection_lost' && error.retryable
}

/** Resolves with undefined when `signal` aborts. */
function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}

/** A queue between event handlers and one async reader. */
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

  /** Ends the queue: the reader gets the queued items, then `reason` is thrown. The first reason counts. */
  end(reason: unknown): void {
    this.#end ??= { reason }
    this.#wake.resolve()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, never> {
    for (;;) {
      // The check and the wait must happen in the same turn of the event loop.
      while (this.#items.length > 0) yield* this.#items.splice(0)
      if (this.#end !== undefined) throw this.#end.reason
      this.#wake = Promise.withResolvers()
      await this.#wake.promise
    }
  }
}
