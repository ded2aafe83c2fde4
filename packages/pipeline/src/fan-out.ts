/**
 * Calls several tools of one call at the same time, a bounded number of them.
 *
 * F1 Results are in the order of the parts, whatever the order of their ends.
 * F2 FAIL_FAST: the first failure stops the parts in flight, no other begins, and the failure names its
 *    part. It is returned when all have stopped.
 * F3 CONTINUE_ON_FAILURE: every part is called; one that failed gives a {@link PartFailure}.
 * F4 Early exit and misconfiguration of a part stop the others, whatever the strategy.
 */
import { callPart, type Part } from './call-part.ts'
import { valueOf, type HandOff } from './hand-off.ts'
import { partFailure } from './part-failure.ts'

import type { ToolContext } from '@tutti/core'
import type { PipelineErrorStrategy } from './error-strategy.ts'

/** What the parts are called in. */
export interface FanOut {
  readonly context: ToolContext
  /** Parts called at the same time, at most. */
  readonly concurrency: number
  readonly errorStrategy: PipelineErrorStrategy
}

/** The value of every part, or the first failure. */
export type FannedOut =
  | { readonly ok: true; readonly values: readonly unknown[] }
  | { readonly ok: false; readonly message: string }

/** One of several calls. */
export interface FannedPart extends Part {
  /** Names its call within the whole one. */
  readonly step: string
}

/**
 * Calls the parts.
 *
 * @throws what {@link callPart} throws, once every part has stopped.
 */
export async function fanOut(
  parts: readonly FannedPart[],
  { context, concurrency, errorStrategy }: FanOut,
): Promise<FannedOut> {
  const stop = new AbortController()
  const values: unknown[] = []
  const waiting = parts.entries()
  const failures: string[] = []
  const work = async (): Promise<void> => {
    for (const [index, part] of waiting) {
      if (stop.signal.aborted) return
      const given = await valueOfPart(part, context, stop.signal)
      if (given.ok) values[index] = given.value
      else if (errorStrategy === 'CONTINUE_ON_FAILURE') values[index] = partFailure(given.message)
      else {
        failures.push(`${part.who} failed: ${given.message}`)
        stop.abort()
      }
    }
  }
  const workers = Array.from({ length: Math.min(concurrency, parts.length) }, async () => {
    try {
      await work()
    } catch (error) {
      stop.abort()
      throw error
    }
  })
  for (const end of await Promise.allSettled(workers)) {
    if (end.status === 'rejected') throw end.reason
  }
  const [message] = failures
  return message === undefined ? { ok: true, values } : { ok: false, message }
}

async function valueOfPart(
  part: FannedPart,
  context: ToolContext,
  signal: AbortSignal,
): Promise<HandOff> {
  const { result } = await callPart(part, context, { step: part.step, signal })
  if (!result.success) return { ok: false, message: result.errorMessage ?? '' }
  return valueOf(result, part.tool)
}

/** What is wrong with a bound of parts at the same time, if anything. */
export function concurrencyProblems(concurrency: number): readonly string[] {
  const isCount = Number.isInteger(concurrency) || concurrency === Infinity
  if (isCount && concurrency >= 1) return []
  return [`concurrency must be an integer >= 1 or Infinity, got ${concurrency}`]
}
