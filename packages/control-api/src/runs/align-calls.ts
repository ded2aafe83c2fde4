/** Aligns the tool calls of a task in two runs. Pure. */

/** Call as the alignment sees it. */
export interface AlignableCall {
  readonly toolName: string
  /** Digest of the arguments. */
  readonly inputDigest: string
}

/** Two aligned calls, or a call that only one run made. */
export type AlignedCalls<Call> =
  | { readonly a: Call; readonly b: Call }
  | { readonly a: Call }
  | { readonly b: Call }

/** Similarity of two calls of the same tool with equal arguments, and with different ones. */
const EQUAL = 3
const SAME_TOOL = 2

/**
 * Pairs calls of the same tool in the order of both runs, so that the sum of similarities is greatest. Calls of different
 * tools are never paired. Time and memory grow with the product of the lengths.
 */
export function alignCalls<Call extends AlignableCall>(
  a: readonly Call[],
  b: readonly Call[],
): readonly AlignedCalls<Call>[] {
  const width = b.length + 1
  // best[i * width + j] is the greatest sum for the first run's calls from i and the second run's from j.
  const best = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      best[i * width + j] = Math.max(
        valueAt(best, (i + 1) * width + j),
        valueAt(best, i * width + j + 1),
        similarity(a[i], b[j]) + valueAt(best, (i + 1) * width + j + 1),
      )
    }
  }
  const pairs: AlignedCalls<Call>[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [one, other] = [a[i], b[j]]
    const here = valueAt(best, i * width + j)
    const value = similarity(one, other)
    if (one !== undefined && other !== undefined && value > 0) {
      if (here === value + valueAt(best, (i + 1) * width + j + 1)) {
        pairs.push({ a: one, b: other })
        i += 1
        j += 1
        continue
      }
    }
    if (one !== undefined && (other === undefined || here === valueAt(best, (i + 1) * width + j))) {
      pairs.push({ a: one })
      i += 1
    } else if (other !== undefined) {
      pairs.push({ b: other })
      j += 1
    }
  }
  return pairs
}

function similarity(one: AlignableCall | undefined, other: AlignableCall | undefined): number {
  if (one === undefined || one.toolName !== other?.toolName) return 0
  return one.inputDigest === other.inputDigest ? EQUAL : SAME_TOOL
}

function valueAt(best: Uint32Array, index: number): number {
  return best[index] ?? 0
}
