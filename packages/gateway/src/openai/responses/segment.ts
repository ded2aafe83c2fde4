/** The state of one response of a run. */
import type { RunUsage } from '@tutti/protocol/internal'
import type { SegmentItems } from './segment-items.ts'
import type { ResponseState, ResponseStatus } from './wire.ts'

/** A response under construction. */
export interface ResponseSegment {
  readonly index: number
  readonly items: SegmentItems
  readonly usageBefore: RunUsage
  sequence: number
  hasBegun: boolean
  createdAt: number
  completedAt: number | null
  status: ResponseStatus
  error: ResponseState['error']
  incomplete: ResponseState['incomplete_details']
  usage: ResponseState['usage']
}

/** Beginning of a response. */
export interface SegmentStart {
  readonly index: number
  readonly items: SegmentItems
  readonly status: ResponseStatus
  readonly usageBefore: RunUsage
  /** In milliseconds since 1970. */
  readonly createdAt: number
}

/** Creates a response without items. */
export function createSegment({
  index,
  items,
  status,
  usageBefore,
  createdAt,
}: SegmentStart): ResponseSegment {
  return {
    index,
    items,
    usageBefore,
    sequence: 0,
    hasBegun: false,
    createdAt: toSeconds(createdAt),
    completedAt: null,
    status,
    error: null,
    incomplete: null,
    usage: null,
  }
}

/** Converts a time in milliseconds to whole seconds. */
export function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000)
}

/** Returns the tokens between two totals. */
export function toSegmentUsage(before: RunUsage, after: RunUsage): ResponseState['usage'] {
  const input = after.inputTokens - before.inputTokens
  const output = after.outputTokens - before.outputTokens
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: after.cachedInputTokens - before.cachedInputTokens,
      cache_write_tokens: 0,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: after.reasoningTokens - before.reasoningTokens },
    total_tokens: input + output,
  }
}
