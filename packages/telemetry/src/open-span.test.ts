import { SpanKind } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'

import { OpenSpan, toHrTime } from './open-span.ts'

function span(startMs: number, parent?: OpenSpan): OpenSpan {
  return new OpenSpan({
    key: `at ${startMs}`,
    name: 'span',
    kind: SpanKind.INTERNAL,
    startMs,
    attributes: {},
    parent,
  })
}

describe('[TEL-O1] a span', () => {
  it('A span does not begin before its parent', () => {
    const whole = span(1_000)
    expect(span(999, whole).startMs).toBe(1_000)
    expect(span(1_001, whole).startMs).toBe(1_001)
    const part = span(1_005, whole)
    part.extendStart(1_002)
    expect(part.startMs).toBe(1_002)
    part.extendStart(1_004)
    expect(part.startMs).toBe(1_002)
    part.extendStart(990)
    expect(part.startMs).toBe(1_000)
  })

  it('A span does not end before its children, its events, or its start', () => {
    const whole = span(1_000)
    const part = span(1_000, whole)
    part.addEvent('late', 1_300)
    expect(part.end({ endMs: 1_200 }).endMs).toBe(1_300)
    expect(whole.end({ endMs: 1_100 }).endMs).toBe(1_300)
    expect(span(1_000).end({ endMs: 900 }).endMs).toBe(1_000)
    expect(span(1_000).end({ endMs: 1_001 }).endMs).toBe(1_001)
  })

  it('A span keeps a limited number of events, counts the rest, and dates none before its start', () => {
    const busy = span(1_000)
    for (let count = 0; count < 130; count += 1) busy.addEvent('event', 900)
    expect(busy.events).toHaveLength(128)
    expect(busy.droppedEvents).toBe(2)
    expect(busy.events[0]?.time).toEqual([1, 0])
  })
})

it('Timestamps of spans are seconds and nanoseconds', () => {
  expect(toHrTime(1_893_456_000_123)).toEqual([1_893_456_000, 123_000_000])
  expect(toHrTime(0)).toEqual([0, 0])
})
