/**
 * One try of a call to an agent: from the request to exactly one final event, even if the connector misbehaves.
 *
 *   connect ─▶ invoked ─▶ turn ─▶ answer ─done─▶ completed
 *                          ▲        └─not done─┐
 *                          └──── next input ◀──┘        limit, cancel ─▶ terminated · failure ─▶ error
 *
 * CALL-Y3 A try that is interrupted or fails retains the output that arrived. The agent is cancelled while the
 *    connection is still open, for at most `CANCEL_TIMEOUT_MS`; then the connector is released and awaited.
 * CALL-Y5 The connector is never awaited for longer than the limits allow. Anything it does after the end is ignored.
 */
import { BusyLoop } from '@tutti/core/internal'

import { AgentError, isDecided, Termination } from './agent-error.ts'
import { ChunkBuffer } from './chunk-buffer.ts'
import {
  failureReport,
  mayBeWorking,
  toFailedTry,
  type FailedTry,
  type TryTotals,
} from './failed-try.ts'
import { hashInput, toJsonText } from './json-text.ts'
import { nextTurn } from './next-turn.ts'
import { TryInterruption } from './try-interruption.ts'
import { TryUsage, type Spent } from './try-usage.ts'

import type {
  AgentAnswer,
  AgentCall,
  AgentSession,
  AgentTurn,
  AgentUpdate,
} from './agent-connector.ts'
import type { AgentToolContext, ResolvedAgentSettings } from './agent-tool-settings.ts'

/**
 * Maximum time for cancelling an agent, in milliseconds. Less than the 5 s that a cancelled tool has, so that the tool
 * does not count as one that ignored its cancel.
 */
const CANCEL_TIMEOUT_MS = 4_000

/** Maximum time for a connector to release its resources, in milliseconds, when the caller did not cancel. */
const RELEASE_TIMEOUT_MS = 5_000

export interface TryInput {
  readonly input: unknown
  readonly context: AgentToolContext
  /** From 0. */
  readonly retryIndex: number
  readonly spent: Spent
}

/** Outcome of a try. */
export type TryEnd =
  | { readonly kind: 'answered'; readonly answer: AgentAnswer & { readonly text: string } }
  | FailedTry

/** One try, for a single `run`. */
export class AgentTry {
  readonly #settings: ResolvedAgentSettings
  readonly #input: unknown
  readonly #context: AgentToolContext
  readonly #usage: TryUsage
  readonly #interruption: TryInterruption
  readonly #controller = new AbortController()
  readonly #chunks = new ChunkBuffer()
  readonly #startedAt: number
  #session: AgentSession | undefined
  /** The session that is being opened; it may open after the try has ended. */
  #connecting: Promise<unknown> | undefined
  /** The turn under way. */
  #updates: AsyncIterator<AgentUpdate> | undefined
  #coming: Promise<unknown> | undefined
  #isDone = false
  #turns = 0
  /** Index of the turn under way. */
  #turnIndex = 0
  /** Answer to the last turn of a conversation. */
  #lastOutput: unknown = null

  constructor(settings: ResolvedAgentSettings, { input, context, retryIndex, spent }: TryInput) {
    this.#settings = settings
    this.#input = input
    this.#context = context
    this.#startedAt = context.clock.elapsed()
    this.#usage = new TryUsage({
      limits: settings,
      spent,
      retryIndex,
      above: context.remaining,
      report: (report) => {
        context.reportAgent(report)
      },
    })
    const { clock, signal } = context
    this.#interruption = new TryInterruption({ clock, signal, limits: settings })
  }

  /** Runs the try; rejects only with a decision about more than this call, see {@link isDecided}. */
  async run(): Promise<TryEnd> {
    try {
      return await this.#untilAnswered()
    } catch (error) {
      return await this.#failed(error)
    } finally {
      this.#interruption.dispose()
      this.#controller.abort()
    }
  }

  async #untilAnswered(): Promise<TryEnd> {
    this.#interruption.start()
    const session = await this.#connect()
    const answer = await this.#converse(session)
    const { output, text = toJsonText(output) } = answer
    const total = { total_cost: this.#usage.costUsd }
    this.#usage.report({ type: 'agent_tool_completed', ...this.#totals(), output, ...total })
    return { kind: 'answered', answer: { ...answer, text } }
  }

  async #connect(): Promise<AgentSession> {
    const { connector, mode } = this.#settings
    // A value that has no JSON is rejected by the connector, after the try has begun.
    const hash = await hashInput(this.#input).catch(() => hashInput(null))
    try {
      this.#interruption.throwIfInterrupted()
      const connecting = connector.connect(this.#call())
      this.#connecting = connecting
      this.#session = await this.#interruption.wait(connecting)
    } finally {
      const { protocol } = this.#session ?? connector
      const agent = { agent_uri: connector.uri, mode, protocol }
      this.#usage.report({ type: 'agent_tool_invoked', ...agent, input_hash: hash })
    }
    return this.#session
  }

  #call(): AgentCall {
    const { idempotencyKey, clock, logger, hasReviewer, traceparent } = this.#context
    const { remaining, requestAnswer } = this.#context
    return {
      mode: this.#settings.mode,
      signal: this.#controller.signal,
      onBytes: () => {
        this.#interruption.touch()
      },
      remaining: () => ({
        ...this.#usage.remaining(),
        timeMs: Math.min(this.#interruption.leftMs(), remaining().timeMs),
      }),
      traceparent,
      idempotencyKey,
      clock,
      logger,
      hasReviewer,
      hasReply: this.#settings.reply !== undefined,
      requestAnswer: (question, options = {}) => {
        const { signal: over } = this.#controller
        const { signal = over } = options
        const either = signal === over ? over : AbortSignal.any([over, signal])
        return this.#interruption.whilePaused(() =>
          requestAnswer(question, { ...options, signal: either }),
        )
      },
    }
  }

  async #converse(session: AgentSession): Promise<AgentAnswer> {
    const isConversation = this.#settings.mode === 'conversational'
    let turn: AgentTurn = { index: 0, input: this.#input }
    for (;;) {
      const { index, input } = turn
      if (isConversation) {
        this.#usage.report({ type: 'agent_tool_turn', turn: index, direction: 'outbound', input })
      }
      this.#turnIndex = index
      const answer = await this.#turn(session, turn)
      this.#interruption.stop()
      this.#turns = index + 1
      if (isConversation) this.#lastOutput = answer.output
      if (isConversation) {
        const { output } = answer
        this.#usage.report({ type: 'agent_tool_turn', turn: index, direction: 'inbound', output })
      }
      const deciding = nextTurn(this.#settings, { ...turn, answer }, this.#context)
      const next = await this.#interruption.wait(deciding)
      if (next.kind === 'done') return answer
      turn = { index: index + 1, input: next.input }
      this.#interruption.start()
    }
  }

  async #turn(session: AgentSession, turn: AgentTurn): Promise<AgentAnswer> {
    const updates = session.send(turn)[Symbol.asyncIterator]()
    this.#updates = updates
    const loop = new BusyLoop()
    for (;;) {
      const pause = loop.pause()
      if (pause !== undefined) await this.#interruption.wait(pause)
      const coming = updates.next()
      this.#coming = coming
      const { done, value } = await this.#interruption.wait(coming)
      if (done === true) throw noAnswerError()
      this.#take(value)
      if (value.kind !== 'end') continue
      this.#updates = undefined
      void closeUpdates(updates).catch(noop)
      return value
    }
  }

  #take(update: AgentUpdate): void {
    this.#isDone = update.kind === 'end' && update.state === 'completed'
    this.#usage.count(update.usage)
    if (update.kind === 'chunk') this.#arrived(update.chunk)
    if (update.usage !== undefined) this.#usage.assertWithinLimits()
  }

  #arrived(chunk: unknown): void {
    this.#chunks.add(chunk)
    if (this.#settings.mode !== 'streaming') return
    this.#usage.report({
      type: 'agent_tool_progress',
      chunk_index: this.#chunks.count - 1,
      chunk,
      accumulated_cost_usd: this.#usage.costUsd,
    })
  }

  /** Reports the failure, cancels the agent, and releases the connector. */
  async #failed(error: unknown): Promise<FailedTry> {
    this.#interruption.stop()
    const partial = this.#partial()
    const chunksReceived = this.#chunks.count
    const arrived = { partial, chunksReceived, costUsd: this.#usage.costUsd }
    const failed = toFailedTry(error, { ...arrived, turnIndex: this.#turnIndex })
    this.#usage.report(failureReport(failed, this.#totals()))
    if (!isExpected(error)) {
      const { logger } = this.#context
      logger.warn('Agent connector threw an unexpected error', { tool: this.#settings.name, error })
    }
    if (!this.#isDone && mayBeWorking(error)) await this.#cancel()
    this.#controller.abort()
    await this.#release()
    if (isDecided(error)) throw error
    return failed
  }

  #partial(): unknown {
    const chunks = this.#chunks.count > 0 ? this.#chunks.all : this.#lastOutput
    try {
      return this.#session?.partial?.() ?? chunks
    } catch (error) {
      const { logger } = this.#context
      logger.warn('Agent connector threw an unexpected error', { tool: this.#settings.name, error })
      return chunks
    }
  }

  async #cancel(): Promise<void> {
    const session = this.#session
    if (session === undefined) return
    const bound = new AbortController()
    const cancel = async (): Promise<void> => session.cancel(bound.signal)
    const cancelled = cancel().catch((error: unknown) => {
      const { logger } = this.#context
      logger.debug('Failed to cancel an agent', { tool: this.#settings.name, error })
    })
    await this.#atMost(CANCEL_TIMEOUT_MS, cancelled)
    bound.abort()
  }

  /** Waits for the connector, whose signal has aborted. */
  async #release(): Promise<void> {
    const settled = this.#settled().then(noop, noop)
    // A caller that cancelled has its own limit for work that ignores its signal.
    const { graceMs = 0 } = this.#settings.connector
    const limitMs = this.#context.signal.aborted ? Infinity : Math.max(RELEASE_TIMEOUT_MS, graceMs)
    await (limitMs === Infinity ? settled : this.#atMost(limitMs, settled))
  }

  /** Resolves when the connector has stopped; its remaining updates are dropped. */
  async #settled(): Promise<void> {
    await this.#connecting
    await this.#coming
    if (this.#updates !== undefined) await closeUpdates(this.#updates)
  }

  async #atMost(ms: number, work: Promise<void>): Promise<void> {
    const { promise: tooLong, resolve } = Promise.withResolvers<void>()
    const stop = this.#context.clock.after(ms, resolve)
    await Promise.race([work, tooLong])
    stop()
  }

  #totals(): TryTotals {
    const tookMs = this.#context.clock.elapsed() - this.#startedAt
    return {
      latency_ms: Math.max(0, Math.round(tookMs)),
      chunks_received: this.#chunks.count,
      total_turns: this.#turns,
    }
  }
}

/** Whether an error was raised on purpose: by a connector, a reviewer or an interruption. */
function isExpected(error: unknown): boolean {
  return error instanceof Termination || error instanceof AgentError || isDecided(error)
}

function noAnswerError(): AgentError {
  return new AgentError('The agent ended without an answer', {
    failureType: 'invalid_response',
    retryable: false,
  })
}

/** Ends the updates and waits for their end. */
async function closeUpdates(updates: AsyncIterator<AgentUpdate>): Promise<void> {
  await updates.return?.()
}

function noop(): void {}
