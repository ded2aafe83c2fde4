/**
 * One try of a call to an agent: from the request to exactly one end, whatever the connector does.
 *
 *   connect ─▶ invoked ─▶ turn ─▶ answer ─done─▶ completed
 *                          ▲        └─more to say─┐
 *                          └───── next input ◀────┘        limit, cancel ─▶ terminated · failure ─▶ error
 *
 * Y3 A try that is ended from here, or fails, keeps what arrived; the agent is told to stop while the connection
 *    is still open, for at most `CANCEL_TIMEOUT_MS`, then everything is let go of, and the connector waited for.
 * Y5 The connector is never waited for longer than the limits say, and what it does after the end is nobody's
 *    business.
 */
import { AgentError } from './agent-error.ts'
import { AgentLog } from './agent-log.ts'
import {
  failedTry,
  failureReport,
  mayBeAtWork,
  type Brought,
  type FailedTry,
} from './failed-try.ts'
import { inputHash } from './input-hash.ts'
import { Interruption } from './interruption.ts'
import { isDecided } from './is-decided.ts'
import { KeptChunks } from './kept-chunks.ts'
import { letOthersRun } from './let-others-run.ts'
import { nextTurn } from './next-turn.ts'
import { Termination, terminationOf } from './termination.ts'
import { textOf } from './text-of.ts'
import { TryBudget, type Spent } from './try-budget.ts'
import { TryClocks } from './try-clocks.ts'

import type {
  AgentAnswer,
  AgentCall,
  AgentSession,
  AgentTurn,
  AgentUpdate,
} from './agent-connector.ts'
import type { AgentToolContext, ResolvedAgentSettings } from './define-agent-tool.ts'

/**
 * How long an agent may take to hear that it is to stop. Less than the 5 s in which a cancelled tool is to stop,
 * so that it is not taken for one that did not.
 */
const CANCEL_TIMEOUT_MS = 4_000

/** How long a connector may take to let go, in milliseconds, where nobody else waits. */
const LET_GO_TIMEOUT_MS = 5_000

/** Updates that are taken one after the other before anything else has its turn. */
const UPDATES_IN_A_ROW = 1_000

/** What a try is about. */
export interface TryInput {
  readonly input: unknown
  readonly context: AgentToolContext
  /** From 0. */
  readonly retryIndex: number
  readonly spent: Spent
}

/** How a try ended. */
export type TryEnd =
  | { readonly kind: 'answered'; readonly answer: AgentAnswer & { readonly text: string } }
  | FailedTry

/** One try. Made for one use: `run`. */
export class AgentTry {
  readonly #settings: ResolvedAgentSettings
  readonly #input: unknown
  readonly #context: AgentToolContext
  readonly #log: AgentLog
  readonly #clocks: TryClocks
  readonly #budget: TryBudget
  readonly #interruption = new Interruption()
  readonly #controller = new AbortController()
  readonly #chunks = new KeptChunks()
  readonly #startedAt: number
  #session: AgentSession | undefined
  /** The session that is being made; it may come when nobody needs it any more. */
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
    this.#log = new AgentLog((report) => {
      context.reportAgent(report)
    }, retryIndex)
    this.#budget = new TryBudget({
      limits: settings,
      spent,
      log: this.#log,
      above: context.remaining,
    })
    this.#clocks = new TryClocks({
      clock: context.clock,
      limits: settings,
      onLimit: (termination) => {
        this.#interruption.interrupt(termination)
      },
    })
  }

  /** Makes the try; rejects only with what was decided about more than it. */
  async run(): Promise<TryEnd> {
    const { signal } = this.#context
    const onAbort = (): void => {
      this.#interruption.interrupt(terminationOf(signal.reason))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      return await this.#untilAnswered()
    } catch (error) {
      return await this.#failed(error)
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#clocks.stop()
      this.#controller.abort()
    }
  }

  async #untilAnswered(): Promise<TryEnd> {
    this.#clocks.start()
    const session = await this.#connect()
    const answer = await this.#converse(session)
    const { output, text = textOf(output) } = answer
    const total = { total_cost: this.#budget.costUsd }
    this.#log.tell({ type: 'agent_tool_completed', ...this.#brought(), output, ...total })
    return { kind: 'answered', answer: { ...answer, text } }
  }

  async #connect(): Promise<AgentSession> {
    const { connector, mode } = this.#settings
    // What has no JSON is refused by the connector, after the try has begun.
    const hash = await inputHash(this.#input).catch(() => inputHash(null))
    try {
      this.#interruption.throwIfHappened()
      const connecting = connector.connect(this.#call())
      this.#connecting = connecting
      this.#session = await this.#interruption.wait(connecting)
    } finally {
      const { protocol } = this.#session ?? connector
      const agent = { agent_uri: connector.uri, mode, protocol }
      this.#log.tell({ type: 'agent_tool_invoked', ...agent, input_hash: hash })
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
        this.#clocks.touch()
      },
      remaining: () => ({
        ...this.#budget.remaining(),
        timeMs: Math.min(this.#clocks.leftMs(), remaining().timeMs),
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
        return this.#clocks.standingStill(() =>
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
        this.#log.tell({ type: 'agent_tool_turn', turn: index, direction: 'outbound', input })
      }
      this.#turnIndex = index
      const answer = await this.#turn(session, turn)
      this.#clocks.stop()
      this.#turns = index + 1
      if (isConversation) this.#lastOutput = answer.output
      if (isConversation) {
        const { output } = answer
        this.#log.tell({ type: 'agent_tool_turn', turn: index, direction: 'inbound', output })
      }
      const deciding = nextTurn(this.#settings, { ...turn, answer }, this.#context)
      const next = await this.#interruption.wait(deciding)
      if (next.kind === 'done') return answer
      turn = { index: index + 1, input: next.input }
      this.#clocks.start()
    }
  }

  async #turn(session: AgentSession, turn: AgentTurn): Promise<AgentAnswer> {
    const updates = session.send(turn)[Symbol.asyncIterator]()
    this.#updates = updates
    for (let count = 1; ; count += 1) {
      // A connector that always has something at hand would keep clocks and cancels from being heard.
      if (count % UPDATES_IN_A_ROW === 0) await this.#interruption.wait(letOthersRun())
      const coming = updates.next()
      this.#coming = coming
      const { done, value } = await this.#interruption.wait(coming)
      if (done === true) throw endedSilently()
      this.#take(value)
      if (value.kind !== 'end') continue
      this.#updates = undefined
      void closed(updates).catch(noop)
      return value
    }
  }

  #take(update: AgentUpdate): void {
    this.#isDone = update.kind === 'end' && update.state === 'completed'
    this.#budget.count(update.usage)
    if (update.kind === 'chunk') this.#arrived(update.chunk)
    if (update.usage !== undefined) this.#budget.assertKept()
  }

  #arrived(chunk: unknown): void {
    this.#chunks.add(chunk)
    if (this.#settings.mode !== 'streaming') return
    this.#log.tell({
      type: 'agent_tool_progress',
      chunk_index: this.#chunks.count - 1,
      chunk,
      accumulated_cost_usd: this.#budget.costUsd,
    })
  }

  /** Tells of the end, has the agent stop, and lets go of everything. */
  async #failed(error: unknown): Promise<FailedTry> {
    this.#clocks.stop()
    const partial = this.#partial()
    const chunksReceived = this.#chunks.count
    const arrived = { partial, chunksReceived, costUsd: this.#budget.costUsd }
    const failed = failedTry(error, { ...arrived, turnIndex: this.#turnIndex })
    this.#log.tell(failureReport(failed, this.#brought()))
    if (!isExpected(error)) {
      const { logger } = this.#context
      logger.warn('A connector to an agent threw', { tool: this.#settings.name, error })
    }
    if (!this.#isDone && mayBeAtWork(error)) await this.#cancel()
    this.#controller.abort()
    await this.#letGo()
    if (isDecided(error)) throw error
    return failed
  }

  #partial(): unknown {
    const chunks = this.#chunks.count > 0 ? this.#chunks.all : this.#lastOutput
    try {
      return this.#session?.partial?.() ?? chunks
    } catch (error) {
      const { logger } = this.#context
      logger.warn('A connector to an agent threw', { tool: this.#settings.name, error })
      return chunks
    }
  }

  async #cancel(): Promise<void> {
    const session = this.#session
    if (session === undefined) return
    const bound = new AbortController()
    const telling = async (): Promise<void> => session.cancel(bound.signal)
    const told = telling().catch((error: unknown) => {
      const { logger } = this.#context
      logger.debug('An agent could not be told to stop', { tool: this.#settings.name, error })
    })
    await this.#atMost(CANCEL_TIMEOUT_MS, told)
    bound.abort()
  }

  /** Waits for the connector, which has been told that nothing is needed any more. */
  async #letGo(): Promise<void> {
    const settled = this.#settled().then(noop, noop)
    // Who cancelled waits for as long as it likes, and says so when the work goes on against its signal.
    const { graceMs = 0 } = this.#settings.connector
    const limitMs = this.#context.signal.aborted ? Infinity : Math.max(LET_GO_TIMEOUT_MS, graceMs)
    await (limitMs === Infinity ? settled : this.#atMost(limitMs, settled))
  }

  /** Resolves when the connector does nothing more; what it still has to say is not told on. */
  async #settled(): Promise<void> {
    await this.#connecting
    await this.#coming
    if (this.#updates !== undefined) await closed(this.#updates)
  }

  async #atMost(ms: number, work: Promise<void>): Promise<void> {
    const { promise: tooLong, resolve } = Promise.withResolvers<void>()
    const stop = this.#context.clock.after(ms, resolve)
    await Promise.race([work, tooLong])
    stop()
  }

  #brought(): Brought {
    const tookMs = this.#context.clock.elapsed() - this.#startedAt
    return {
      latency_ms: Math.max(0, Math.round(tookMs)),
      chunks_received: this.#chunks.count,
      total_turns: this.#turns,
    }
  }
}

/** A failure that a connector or a person means, or one that was ended from here. */
function isExpected(error: unknown): boolean {
  return error instanceof Termination || error instanceof AgentError || isDecided(error)
}

function endedSilently(): AgentError {
  return new AgentError('The agent ended without an answer', {
    failureType: 'invalid_response',
    retryable: false,
  })
}

/** Ends the updates, and waits until they have ended. */
async function closed(updates: AsyncIterator<AgentUpdate>): Promise<void> {
  await updates.return?.()
}

function noop(): void {}
