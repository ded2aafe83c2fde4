/**
 * Pure: reads the usage that an adapter reports for a model call. No other file reads reported usage of models.
 *
 * ENS-B3 A count that the provider does not report, or that cannot be right, is estimated by length for budgets, with
 *    4 characters per token; a sum that the provider reports takes precedence over the estimate.
 * ENS-B7 A reported count that is not a number from 0 to 2^53 - 1 is unknown, and a fraction is rounded. An input of 0 is
 *    unknown for a prompt with text, and so is an output of 0 for an answer with text if the input is unknown or smaller
 *    than the reported sum. A count that is not known is the rest of the sum if the other one is.
 */
import { addAmounts, readTokenCount } from '@tutti/protocol/internal'

import { computeCost } from '../model/prices.ts'
import { CHARACTERS_PER_TOKEN, type CountedUse } from './budget.ts'
import { sumCostUsd } from './usage.ts'

import type { Message, ModelPrice, ModelReply, ModelUsage } from '../model/chat-model.ts'

/** Texts of a model call. */
export interface ModelExchange {
  readonly messages: readonly Message[]
  readonly reply: Pick<ModelReply, 'text' | 'toolCalls'>
  /** Number of characters of the model's reasoning. */
  readonly reasoningLength: number
}

/** Whether the prompt and the reply of a model call have text. */
export interface ExchangeTexts {
  readonly hasInput: boolean
  readonly hasOutput: boolean
}

/** Finds out whether a model call has texts, without reading all of them. */
export function findTexts({ messages, reply, reasoningLength }: ModelExchange): ExchangeTexts {
  return {
    hasInput: messages.some((message) => countCharacters(message) > 0),
    hasOutput: measureReply({ reply, reasoningLength }) > 0,
  }
}

/** Returns the length of a reply with its reasoning, in characters. */
function measureReply({
  reply,
  reasoningLength,
}: Pick<ModelExchange, 'reply' | 'reasoningLength'>): number {
  return reply.text.length + countArguments(reply.toolCalls) + reasoningLength
}

function countCharacters(message: Message): number {
  const { content } = message
  return content.length + (message.role === 'assistant' ? countArguments(message.toolCalls) : 0)
}

function countArguments(calls: ModelReply['toolCalls']): number {
  return calls.reduce((sum, call) => sum + call.arguments.length, 0)
}

/**
 * Returns the usage that an adapter reports, with -1 for each unknown count; undefined if all are unknown. Adapters are
 * third-party code and can report anything.
 */
export function readUsage(
  reported: unknown,
  { hasInput, hasOutput }: ExchangeTexts,
): ModelUsage | undefined {
  if (typeof reported !== 'object' || reported === null) return undefined
  const fields: Partial<Record<keyof ModelUsage, unknown>> = reported
  const input = readPlausible(fields.inputTokens, hasInput)
  const total = readPlausible(fields.totalTokens, hasInput || hasOutput)
  // Some providers count no output of tool calls: their 0 is believed.
  const isZeroBelieved = input !== undefined && (total === undefined || total <= input)
  const known = {
    input,
    output: readPlausible(fields.outputTokens, hasOutput && !isZeroBelieved),
    total,
  }
  const [inputTokens, outputTokens] = deriveCounts(known)
  const isUnknown = inputTokens === -1 && outputTokens === -1
  if (isUnknown && total === undefined) return undefined
  const most = inputTokens === -1 ? total : inputTokens
  const cachedInputTokens = readPart(fields.cachedInputTokens, most)
  const cacheWriteInputTokens = readPart(
    fields.cacheWriteInputTokens,
    most === undefined ? undefined : most - (cachedInputTokens ?? 0),
  )
  const reasoningTokens = readPart(
    fields.reasoningTokens,
    outputTokens === -1 ? total : outputTokens,
  )
  let usage: ModelUsage = { inputTokens, outputTokens }
  if (cachedInputTokens !== undefined) usage = { ...usage, cachedInputTokens }
  if (cacheWriteInputTokens !== undefined) usage = { ...usage, cacheWriteInputTokens }
  if (reasoningTokens !== undefined) usage = { ...usage, reasoningTokens }
  if (isUnknown && total !== undefined) usage = { ...usage, totalTokens: total }
  return usage
}

/** Returns a count; undefined if it is unknown, or 0 for a text that is not empty. */
function readPlausible(reported: unknown, hasText: boolean): number | undefined {
  const count = readTokenCount(reported)
  return count === 0 && hasText ? undefined : count
}

/** Returns the input and the output tokens; one that is not reported is the rest of the total, else -1. */
function deriveCounts({ input, output, total }: ReportedCounts): readonly [number, number] {
  const rest = (known: number | undefined): number =>
    total === undefined || known === undefined || known > total ? -1 : total - known
  return [input ?? rest(output), output ?? rest(input)]
}

interface ReportedCounts {
  readonly input: number | undefined
  readonly output: number | undefined
  readonly total: number | undefined
}

/** Returns a part of a count, which is at most the whole. */
function readPart(reported: unknown, whole = Infinity): number | undefined {
  const count = readTokenCount(reported)
  return count === undefined ? undefined : Math.min(count, whole)
}

/**
 * Returns `usage` with an estimate for each unknown count, as budgets count it. The prompt, which grows with each turn,
 * is only measured if its count is unknown.
 */
export function completeUsage(usage: ModelUsage | undefined, exchange: ModelExchange): ModelUsage {
  const { inputTokens = -1, outputTokens = -1, totalTokens } = usage ?? {}
  if (totalTokens !== undefined) {
    const output = Math.min(totalTokens, estimateTokens(measureReply(exchange)))
    return { ...usage, inputTokens: totalTokens - output, outputTokens: output }
  }
  return {
    ...usage,
    inputTokens: inputTokens === -1 ? estimateTokens(measurePrompt(exchange)) : inputTokens,
    outputTokens: outputTokens === -1 ? estimateTokens(measureReply(exchange)) : outputTokens,
  }
}

function measurePrompt({ messages }: ModelExchange): number {
  return messages.reduce((sum, message) => sum + countCharacters(message), 0)
}

/** Returns the use that budgets count for a model call with a complete usage. */
export function countUse(complete: ModelUsage, price: ModelPrice | undefined): CountedUse {
  const cost = computeCost(complete, price)
  return {
    tokens: addAmounts(complete.inputTokens, complete.outputTokens),
    costUsd: cost === undefined ? 0 : sumCostUsd(cost),
  }
}

function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN)
}

/** Whether a provider reported both counts of tokens. */
export function isCompleteUsage(usage: ModelUsage | undefined): usage is ModelUsage {
  return usage !== undefined && usage.inputTokens !== -1 && usage.outputTokens !== -1
}
