/**
 * Calls several tools concurrently as parts of one call.
 *
 * PIPE-F1 Results are in the order of the parts, regardless of the order in which they end.
 * PIPE-F2 FAIL_FAST: the first failure aborts the parts in flight, no other part starts, and the failure names its
 *    part. It is returned when all parts have stopped.
 * PIPE-F3 CONTINUE_ON_FAILURE: every part is called; the value of a failed one is a {@link PartFailure}.
 * PIPE-F4 Early exit and misconfiguration of a part abort the others, regardless of the strategy.
 */
import { callPart, type Part } from './call-part.ts'
import { toValue, type HandOff } from './hand-off.ts'
import { createPartFailure } from './part-failure.ts'

import type { ToolContext } from '@tutti/core'
import type { PipelineErrorStrategy } from './error-strategy.ts'

/** Options of `fanOut`. */
export interface FanOut {
  readonly context: ToolContext
  /** Maximum number of parts that run at the same time. */
  readonly concurrency: number
  readonly errorStrategy: PipelineErrorStrategy
}

/** Values of all parts, or the message of the first failure. */
export type FannedOut =
  | { readonly ok: true; readonly values: readonly unknown[] }
  | { readonly ok: false; readonly message: string }

/** A part with its step name. */
export interface FannedPart extends Part {
  /** Name of the part in the id of its call. */
  readonly step: string
}

/**
 * Calls the parts and returns their values.
 *
 * @throws the errors of {@link callPart}, after every part has stopped.
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
      const value = await callForValue(part, context, stop.signal)
      if (value.ok) values[index] = value.value
      else if (errorStrategy === 'CONTINUE_ON_FAILURE')
        values[index] = createPartFailure(value.message)
      else {
        failures.push(`${part.label} failed: ${value.message}`)
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

async function callForValue(
  part: FannedPart,
  context: ToolContext,
  signal: AbortSignal,
): Promise<HandOff> {
  const { result } = await callPart(part, context, { step: part.step, signal })
  if (!result.success) return { ok: false, message: result.errorMessage ?? '' }
  return toValue(result, part.tool)
}

/** Returns the problems of a concurrency limit. */
export function findConcurrencyProblems(concurrency: number): readonly string[] {
  const isCount = Number.isInteger(concurrency) || concurrency === Infinity
  if (isCount && concurrency >= 1) return []
  return [`concurrency must be an integer >= 1 or Infinity, got ${concurrency}`]
}
