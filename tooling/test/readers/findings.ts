/** Findings of a reader in a log, and functions to state them. */
import { expect } from 'vitest'

import type { RunLog } from './run-logs.ts'

/** Findings of a reader in a log. */
export interface Found {
  /**
   * Status of the run, or NOT_COMPLETED in a protocol that does not distinguish a failure from a cancel. Absent if a
   * protocol has another one, such as an incomplete response.
   */
  readonly status?: RunLog['status'] | 'NOT_COMPLETED'
  /** Output, after the text before it in a protocol that does not separate them; present if the run completed. */
  readonly output?: string | undefined
  /** Text that the output task has written, in a run without an output. Absent if the reader does not show it. */
  readonly text?: string
  readonly tokens?: FoundTokens
  /** Tokens that models used to reason. Absent if the reader does not show them. */
  readonly reasoningTokens?: number
  readonly cost?: FoundCost
}

/** Tokens of a run, and what the number means if a model did not report its tokens. */
export interface FoundTokens {
  /** Whether the number then is -1, the sum of the reported numbers, or the sum with estimates. */
  readonly kind: 'stated' | 'known' | 'estimated'
  readonly count: number
}

/** Cost of a run, and what it means if a model has no known price. */
export interface FoundCost {
  /** Whether the cost then is unknown, or the sum of the known costs. */
  readonly kind: 'stated' | 'known'
  /** In US dollars; undefined if it is unknown. */
  readonly usd: number | undefined
}

/** Reads a log from its first event to its last one. */
type Reader = (log: RunLog) => Found | Promise<Found>

/** Readers by name. */
export type Readers = Readonly<Record<string, Reader>>

/** Returns a number of tokens that is -1 if a model did not report its tokens. */
export const stated = (count: number): FoundTokens => ({ kind: 'stated', count })

/** Returns the sum of the reported numbers of tokens. */
export const known = (count: number): FoundTokens => ({ kind: 'known', count })

/** Returns a sum of tokens with estimates. */
export const estimated = (count: number): FoundTokens => ({ kind: 'estimated', count })

/** Returns a cost that is undefined if a price is not known. */
export const statedCost = (usd: number | undefined): FoundCost => ({ kind: 'stated', usd })

/** Returns the sum of the known costs. */
export const knownCost = (usd = 0): FoundCost => ({ kind: 'known', usd })

/** Returns the last item; fails the test if there is none. */
export const lastOf = <T>(items: readonly T[]): T => items.at(-1) ?? expect.fail('found nothing')

/** Returns the sum of the counts of all items. */
export function sumOf<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((sum, item) => sum + count(item), 0)
}

/** Returns a status that a log of this test can have. */
export function readStatus(status: unknown): RunLog['status'] {
  const all = ['COMPLETED', 'FAILED', 'CANCELLED', 'WAITING_REVIEW'] as const
  return all.find((one) => one === status) ?? expect.fail(`the status ${JSON.stringify(status)}`)
}
