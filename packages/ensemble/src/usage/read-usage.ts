/**
 * Pure: reads the usage that an adapter reports for a model call. No other file reads reported usage of models.
 *
 * ENS-B3 A count that the provider does not report, or that cannot be right, is estimated by length for budgets, with
 *    4 characters per token; a sum that the provider reports takes precedence over the estimate.
 * ENS-B7 A reported count that is not a number from 0 to 2^53 - 1 is unknown, and a fraction is rounded. An input of 0 is
 *    unknown for a prompt with text, and so is then an output of 0 for an answer with text.
 */
import { addAmounts, readTokenCount } from '@tutti/protocol'

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

/** Lengths of the texts of a model call, in characters. */
export interface ExchangeLength {
  readonly input: number
  readonly output: number
}

/** Measures the texts of a model call. */
export function measureExchange({
  messages,
  reply,
  reasoningLength,
}: ModelExchange): ExchangeLength {
  return {
    input: messages.reduce((sum, message) => sum + countCharacters(message), 0),
    output: reply.text.length + countArguments(reply.toolCalls) + reasoningLength,
  }
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
export function readUsage(reported: unknown, length: ExchangeLength): ModelUsage | undefined {
  if (typeof reported !== 'object' || reported === null) return undefined
  const fields: Partial<Record<keyof ModelUsage, unknown>> = reported
  const input = readPlausible(fields.inputTokens, () => length.input)
  // Some providers count no output of tool calls: with an input, their 0 is believed.
  const output =
    input === undefined
      ? readPlausible(fields.outputTokens, () => length.output)
      : readTokenCount(fields.outputTokens)
  const known = {
    input,
    output,
    total: readPlausible(fields.totalTokens, () => length.input + length.output),
  }
  const [inputTokens, outputTokens] = deriveCounts(known)
  const isUnknown = inputTokens === -1 && outputTokens === -1
  if (isUnknown && known.total === undefined) return undefined
  const most = inputTokens === -1 ? known.total : inputTokens
  const cachedInputTokens = readPart(fields.cachedInputTokens, most)
  const cacheWriteInputTokens = readPart(
    fields.cacheWriteInputTokens,
    most === undefined ? undefined : most - (cachedInputTokens ?? 0),
  )
  const reasoningTokens = readTokenCount(fields.reasoningTokens)
  return {
    inputTokens,
    outputTokens,
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(cacheWriteInputTokens === undefined ? {} : { cacheWriteInputTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(isUnknown && known.total !== undefined ? { totalTokens: known.total } : {}),
  }
}

/** Returns a count; undefined if it is unknown, or 0 for a text that is not empty. */
function readPlausible(reported: unknown, lengthOf: () => number): number | undefined {
  const count = readTokenCount(reported)
  return count === 0 && lengthOf() > 0 ? undefined : count
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

/** Returns the usage that budgets count for a model call, with estimates for what `usage` does not say. */
export function countUse(
  usage: ModelUsage | undefined,
  length: ExchangeLength,
  price: ModelPrice | undefined,
): CountedUse {
  const complete = completeUsage(usage, length)
  const cost = computeCost(complete, price)
  return {
    tokens: addAmounts(complete.inputTokens, complete.outputTokens),
    costUsd: cost === undefined ? 0 : sumCostUsd(cost),
  }
}

function completeUsage(usage: ModelUsage | undefined, length: ExchangeLength): ModelUsage {
  const { inputTokens = -1, outputTokens = -1, totalTokens } = usage ?? {}
  if (totalTokens !== undefined) {
    const output = Math.min(totalTokens, estimateTokens(length.output))
    return { ...usage, inputTokens: totalTokens - output, outputTokens: output }
  }
  return {
    ...usage,
    inputTokens: inputTokens === -1 ? estimateTokens(length.input) : inputTokens,
    outputTokens: outputTokens === -1 ? estimateTokens(length.output) : outputTokens,
  }
}

function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN)
}

/** Whether a provider reported both counts of tokens. */
export function isCompleteUsage(usage: ModelUsage | undefined): usage is ModelUsage {
  return usage !== undefined && usage.inputTokens !== -1 && usage.outputTokens !== -1
}
