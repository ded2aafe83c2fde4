/** Spans as a readable tree, and the rules for every tree. */
import { expect } from 'vitest'

import type { SentSpan } from './collector.ts'

/** Returns the tree as lines, each span below its parent, in the order of their starts; `!` marks errors. */
export function treeOf(spans: readonly SentSpan[]): readonly string[] {
  const known = new Set(spans.map(({ spanId }) => spanId))
  const roots = spans.filter(({ parentSpanId = '' }) => !known.has(parentSpanId))
  return roots.flatMap((root) => linesOf(root, spans, ''))
}

function linesOf(span: SentSpan, spans: readonly SentSpan[], indent: string): readonly string[] {
  const parts = spans.filter(({ parentSpanId }) => parentSpanId === span.spanId)
  const inOrder = parts.toSorted((a, b) => a.startMs - b.startMs || seqOf(a) - seqOf(b))
  const error = span.isError ? ` !${String(span.attributes['error.type'])}` : ''
  return [
    `${indent}${span.name}${error}`,
    ...inOrder.flatMap((part) => linesOf(part, spans, `${indent}  `)),
  ]
}

function seqOf({ attributes }: SentSpan): number {
  return Number(attributes['tutti.seq.first'] ?? 0)
}

/**
 * Checks the rules for the spans of every run: one trace, each span once, and one root, the run. The parent of every
 * other span is among the spans and encloses its time. `from` is the span of the caller.
 */
export function expectWholeTrace(spans: readonly SentSpan[], from?: string): void {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  expect(byId.size).toBe(spans.length)
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  const roots = spans.filter(({ parentSpanId = '' }) => !byId.has(parentSpanId))
  expect(roots.map(({ parentSpanId }) => parentSpanId)).toEqual([from])
  for (const { name, parentSpanId = '', startMs, endMs } of spans) {
    const parent = byId.get(parentSpanId)
    expect.soft(endMs, name).toBeGreaterThanOrEqual(startMs)
    if (parent === undefined) continue
    expect
      .soft(startMs, `${name} begins within ${parent.name}`)
      .toBeGreaterThanOrEqual(parent.startMs)
    expect.soft(endMs, `${name} ends within ${parent.name}`).toBeLessThanOrEqual(parent.endMs)
  }
}

/** Returns the only span with that name. */
export function spanNamed(spans: readonly SentSpan[], name: string): SentSpan {
  const [found, ...others] = spans.filter((span) => span.name === name)
  expect(others).toHaveLength(0)
  if (found === undefined) throw new Error(`No span "${name}" among ${treeOf(spans).join(', ')}`)
  return found
}
