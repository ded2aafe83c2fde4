/**
 * One model turn: calls the current model of the task, retries transient failures, and then calls the
 * fallback models.
 *
 *   model ─▶ failed ─▶ wait, same model … ─▶ next model … ─▶ the turn fails
 *
 * ENS-L1 Each model call emits llm_iteration_started, then its reasoning and tokens, then llm_iteration_completed;
 *    one that fails emits llm_iteration_failed, and the next call of the turn starts with llm_iteration_started again.
 * ENS-L5 Aborted work ends with the reason of the abort; the interrupted call emits nothing.
 * ENS-L16 A call that failed for a transient reason is repeated up to `modelRetries` times, after a growing
 *    wait or the one that the provider requests; then each fallback model is tried in the same way.
 * ENS-L17 A call uses the current model of the task at its start; calls and switches name a model by its
 *    alias in the catalog of the run, else `provider:name`.
 */
import { TuttiError, type Clock } from '@tutti/core'
import { isoNow, sleep } from '@tutti/core/internal'

import { callModel, type CallModelOptions, type ReceivedReply } from './call-model.ts'
import { computeCost, findPrice } from '../model/prices.ts'
import { computeModelRetryDelay } from '../model/retry-delay.ts'
import { countUse, isCompleteUsage } from '../usage/read-usage.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { toModelLabel, type NamedModel } from '../steering/models.ts'
import { TurnReasoning } from './turn-reasoning.ts'

import type {
  ChatModel,
  ModelPrice,
  Message,
  ModelReply,
  ModelRequest,
  OutputFormat,
  ToolSpecification,
} from '../model/chat-model.ts'
import type { Prices } from '../model/prices.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { CountedUse } from '../usage/budget.ts'
import type { ModelChain } from './model-chain.ts'
import type { EventMessages } from './event-messages.ts'
import type { CostEstimate } from '@tutti/protocol/internal'

/** Request of one model turn. */
export interface ModelQuestion {
  readonly iterationIndex: number
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpecification[]
  readonly toolChoice: 'auto' | 'none'
  readonly output?: OutputFormat | undefined
  /** Maximum number of output tokens, when an answer was cut at the model's own limit. */
  readonly maxOutputTokens?: number | undefined
  /** Ids of the directives that the request delivers. */
  readonly directiveIds: readonly string[]
  /** Called before the request is repeated, and may add messages and directives. */
  readonly beforeRetry?: () => void
  /**
   * Whether the task can continue without an answer. If so, an interrupted call also emits
   * llm_iteration_failed.
   */
  readonly isOptional?: boolean
}

/** Answer to one model turn. */
export interface ModelAnswer {
  readonly question: ModelQuestion
  readonly reply: ModelReply
  /** Label of the model that answered, as in events. */
  readonly model: string
  readonly latencyMs: number
  readonly cost: CostEstimate | undefined
  /** Usage that budgets count; undefined if the provider reported both counts of tokens. */
  readonly counted: CountedUse | undefined
  /** Reasoning of the answered call. It is only in the event: the engine never needs it again. */
  readonly reasoning: TurnReasoning
}

/**
 * Calls models until one answers.
 *
 * @throws {TuttiError} MODEL_FAILED from the last model, BUDGET_EXCEEDED, RATE_LIMIT_TIMEOUT, or the reason
 * why the work was stopped.
 */
export async function askModel(
  scope: TaskScope,
  chain: ModelChain,
  question: ModelQuestion,
): Promise<ModelAnswer> {
  const { inFlight } = scope.run
  let retries = 0
  let asked: ChatModel | undefined
  for (;;) {
    if (scope.signal.aborted) throw stoppedError(scope.signal, 'Model call')
    const limit = findRateLimit(scope)
    if (limit !== undefined) await waitForTurn(scope, chain, limit)
    const holding = inFlight.waitIfDraining(scope.signal, 'Model call')
    if (holding !== undefined) await holding
    const named = chain.current()
    if (named.model !== asked) retries = 0
    asked = named.model
    const call = beginCall(scope, chain, { named, question })
    try {
      return call.answer(await callModel(named.model, createRequest(question, named.model), call))
    } catch (thrown) {
      await recoverFromFailure(scope, chain, { call, thrown, retries })
      retries += 1
    }
  }
}

/**
 * Prepares the next call after a failed one: waits, or moves to the next model.
 *
 * @throws the failure if no call may follow, or the reason why the work was stopped.
 */
async function recoverFromFailure(
  scope: TaskScope,
  chain: ModelChain,
  { call, thrown, retries }: FailedTry,
): Promise<void> {
  const { question } = call
  const latencyMs = call.elapsedMs()
  const error = TuttiError.from(thrown, 'MODEL_FAILED')
  const isCutOff = scope.signal.aborted && error.code !== 'BUDGET_EXCEEDED'
  if (isCutOff && question.isOptional === true) {
    emitFailed(scope, { call, error, latencyMs })
  }
  if (scope.signal.aborted || error.code === 'BUDGET_EXCEEDED') throw error
  const retryInMs = computeModelRetryDelay(error, {
    retries,
    maxRetries: scope.run.ensemble.modelRetries,
    maxRetryAfterMs: scope.run.ensemble.maxRetryAfterMs,
  })
  const next = retryInMs === undefined ? chain.next() : undefined
  emitFailed(scope, { call, error, latencyMs, retryInMs, next })
  if (retryInMs === undefined && next === undefined) throw error
  if (retryInMs !== undefined) await pauseFor(scope, retryInMs)
  if (scope.signal.aborted) throw stoppedError(scope.signal, 'Model call')
  question.beforeRetry?.()
}

/** Returns the rate limit of the task, else that of its agent, else that of the ensemble. */
function findRateLimit({ task, run }: TaskScope): RateLimit | undefined {
  return task.rateLimit ?? task.agent.rateLimit ?? run.ensemble.rateLimit
}

async function waitForTurn(
  { run, signal }: TaskScope,
  { run: { onRateLimitWait } }: ModelChain,
  limit: RateLimit,
): Promise<void> {
  const { clock } = run
  const askedAt = clock.elapsed()
  run.inFlight.pause()
  try {
    if (await limit.take({ signal, clock })) onRateLimitWait?.(clock.elapsed() - askedAt)
  } catch (error) {
    if (signal.aborted) throw stoppedError(signal, 'Model call', { cause: error })
    throw error
  } finally {
    run.inFlight.resume()
  }
}

async function pauseFor({ run, signal }: TaskScope, ms: number): Promise<void> {
  run.inFlight.pause()
  await sleep(run.clock, ms, signal)
  run.inFlight.resume()
}

/**
 * Counts a call that begins, and emits its start.
 *
 * @throws {TuttiError} BUDGET_EXCEEDED if the call exceeds a limit.
 */
function beginCall(scope: TaskScope, chain: ModelChain, call: ModelCall): BegunCall {
  const price = findRequiredPrice(scope, call.named.model, chain.run.prices)
  scope.meter.begin('model')
  emitStarted(scope, chain.shown, call)
  return new BegunCall(scope, call, price)
}

/** A model call in flight: emits its text and its reasoning as they arrive. */
class BegunCall implements ModelCall, CallModelOptions {
  readonly question: ModelQuestion
  readonly named: NamedModel
  readonly #scope: TaskScope
  /** Price of the model; undefined if it is unknown. */
  readonly #price: ModelPrice | undefined
  readonly #reasoning = new TurnReasoning()
  readonly #startedAt: number

  constructor(scope: TaskScope, { question, named }: ModelCall, price: ModelPrice | undefined) {
    this.question = question
    this.named = named
    this.#scope = scope
    this.#price = price
    this.#startedAt = scope.run.clock.elapsed()
  }

  get signal(): AbortSignal {
    return this.#scope.signal
  }

  get clock(): Clock {
    return this.#scope.run.clock
  }

  /** Returns the time since the call began, in whole milliseconds. */
  elapsedMs(): number {
    return Math.round(this.clock.elapsed() - this.#startedAt)
  }

  onText(token: string): void {
    emitToken(this.#scope, this.question.iterationIndex, token)
  }

  onReasoning(piece: string): void {
    const text = this.#reasoning.add(piece)
    if (text !== '') emitReasoning(this.#scope, this.question.iterationIndex, text)
  }

  /** Counts the usage of the call, which ends now, and returns its answer. */
  answer({ reply, complete }: ReceivedReply): ModelAnswer {
    const latencyMs = this.elapsedMs()
    const { usage } = reply
    const counted = countUse(complete, this.#price)
    this.#scope.meter.count(counted)
    return {
      question: this.question,
      reply,
      latencyMs,
      cost: computeCost(usage, this.#price),
      counted: isCompleteUsage(usage) ? undefined : counted,
      model: this.named.label,
      reasoning: this.#reasoning,
    }
  }
}

/**
 * Returns the price of a model; undefined if it is unknown.
 *
 * @throws {TuttiError} BUDGET_EXCEEDED if it is unknown and the budget limits cost.
 */
function findRequiredPrice(
  { meter }: TaskScope,
  model: ChatModel,
  prices: Prices | undefined,
): ModelPrice | undefined {
  const price = findPrice(model, prices)
  if (price !== undefined || !meter.limitsCost) return price
  const label = toModelLabel(model)
  throw new TuttiError(
    'BUDGET_EXCEEDED',
    `maxCostUsd cannot be enforced: no price for model "${label}"`,
    { details: { limit: 'maxCostUsd', model: label } },
  )
}

function createRequest(
  { messages, tools, toolChoice, output, maxOutputTokens }: ModelQuestion,
  { structuredOutput }: ChatModel,
): ModelRequest {
  let request: ModelRequest = { messages, tools, toolChoice }
  if (maxOutputTokens !== undefined) request = { ...request, maxOutputTokens }
  if (output === undefined || structuredOutput !== true) return request
  const { name, schema } = output
  return { ...request, output: { name, schema } }
}

function emitStarted(
  scope: TaskScope,
  shown: EventMessages,
  { named, question: { iterationIndex, messages } }: ModelCall,
): void {
  const { taskIndex, taskName, agentRole, attempt } = scope.identity
  scope.emit({
    type: 'llm_iteration_started',
    agentRole,
    taskDescription: scope.taskLabel,
    iterationIndex,
    messages: shown.show(iterationIndex, messages),
    totalMessageCount: messages.length,
    taskName,
    taskIndex,
    attempt,
    model: named.label,
    startedAt: isoNow(scope.run.clock),
  })
}

function emitToken(scope: TaskScope, iterationIndex: number, token: string): void {
  const { taskIndex, taskName, agentRole, attempt } = scope.identity
  scope.emit({
    type: 'token',
    token,
    agentRole,
    taskDescription: scope.taskLabel,
    sentAt: isoNow(scope.run.clock),
    taskName,
    taskIndex,
    attempt,
    iterationIndex,
  })
}

function emitReasoning(scope: TaskScope, iterationIndex: number, text: string): void {
  const { taskIndex, taskName, agentRole, attempt } = scope.identity
  scope.emit({
    type: 'reasoning',
    text,
    agentRole,
    taskName,
    taskIndex,
    attempt,
    iterationIndex,
    sentAt: isoNow(scope.run.clock),
  })
}

/** Returns the wait that the provider requested, as its adapter reports it. */
function readRetryAfter({ details }: TuttiError): { readonly retryAfterMs?: number } {
  const asked = details?.['retryAfterMs']
  return typeof asked === 'number' && asked >= 0 ? { retryAfterMs: Math.round(asked) } : {}
}

interface ModelCall {
  readonly question: ModelQuestion
  readonly named: NamedModel
}

interface FailedTry {
  readonly call: BegunCall
  readonly thrown: unknown
  /** Number of earlier retries with the same model. */
  readonly retries: number
}

interface FailedCall {
  readonly call: ModelCall
  readonly error: TuttiError
  readonly latencyMs: number
  readonly retryInMs?: number | undefined
  readonly next?: NamedModel | undefined
}

function emitFailed(
  scope: TaskScope,
  { call: { question, named }, error, latencyMs, retryInMs, next }: FailedCall,
): void {
  scope.emit({
    type: 'llm_iteration_failed',
    ...scope.identity,
    iterationIndex: question.iterationIndex,
    model: named.label,
    reason: error.message,
    code: error.code,
    latencyMs,
    failedAt: isoNow(scope.run.clock),
    ...(retryInMs === undefined ? {} : { retryInMs }),
    ...readRetryAfter(error),
    ...(next === undefined ? {} : { nextModel: next.label }),
  })
}
