import { describe, expect, it, vi } from 'vitest'

import {
  childTraceparent,
  isSampled,
  isTraceparent,
  isTracestate,
  newTraceparent,
  runSpanKey,
  spanId,
  spanTraceparent,
  toolCallSpanKey,
  traceContextOf,
  traceIdOf,
} from './trace-context.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
/** Pinned: with another hash, processes of two versions would not agree on the spans of one run. */
const PINNED = '4324e902d59c80ac'

const GIVEN = `00-${TRACE}-b7ad6b7169203331-01`

describe('trace context', () => {
  it('A trace context creates a trace that is not sampled', () => {
    expect(newTraceparent()).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    expect(isTraceparent(newTraceparent())).toBe(true)
    expect(newTraceparent()).not.toBe(newTraceparent())
  })

  it('A trace context creates a child with a new span in the same trace and the same flags', () => {
    const child = childTraceparent(GIVEN)
    expect(child).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/)
    expect(child).not.toBe(GIVEN)
  })

  it.each([
    ['the supported version', GIVEN, true],
    ['another version', GIVEN.replace(/^00/, '01'), false],
    ['no trace', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, false],
    ['no span', `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`, false],
    ['capitals', GIVEN.toUpperCase(), false],
    ['trailing text', `${GIVEN}-x`, false],
  ])('A trace context classifies %s', (_what, text, is) => {
    expect(isTraceparent(text)).toBe(is)
  })

  it('A trace context never creates an id of zeros', () => {
    const random = vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => array)
    expect(isTraceparent(newTraceparent())).toBe(true)
    random.mockRestore()
  })

  it.each([
    ['00', false],
    ['01', true],
    ['02', false],
    ['03', true],
    ['fe', false],
    ['ff', true],
  ])('A trace context with the flags %s is sampled: %s', (flags, is) => {
    expect(isSampled(`00-${TRACE}-b7ad6b7169203331-${flags}`)).toBe(is)
  })

  it('A trace context returns its trace id', () => {
    expect(traceIdOf(GIVEN)).toBe(TRACE)
  })
})

describe('tracestate', () => {
  it.each([
    ['one member', 'vendor=value', true],
    ['several, with space between', 'a=1, b@c=2,d/e-f*_=3', true],
    ['empty members', 'a=1,,b=2,', true],
    ['a value with a space in it', 'a=1 2', true],
    ['nothing', '', false],
    ['no value', 'a=', false],
    ['no key', '=1', false],
    ['a key in capitals', 'A=1', false],
    ['a line break', 'a=1\r\nx: y', false],
    ['32 members', Array.from({ length: 32 }, (_, n) => `k${n}=1`).join(','), true],
    ['33 members', Array.from({ length: 33 }, (_, n) => `k${n}=1`).join(','), false],
    [
      'more than 512 characters',
      `a=${'x'.repeat(200)},b=${'x'.repeat(200)},c=${'x'.repeat(110)}`,
      false,
    ],
  ])('A tracestate classifies %s', (_what, text, is) => {
    expect(isTracestate(text)).toBe(is)
  })

  it('A tracestate is used only with a valid traceparent, and only when it is valid', () => {
    expect(traceContextOf(GIVEN, 'a=1')).toEqual({ traceparent: GIVEN, tracestate: 'a=1' })
    expect(traceContextOf(GIVEN, 'a')).toEqual({ traceparent: GIVEN })
    expect(traceContextOf(GIVEN)).toEqual({ traceparent: GIVEN })
    expect(traceContextOf('00-1-2-01', 'a=1')).toEqual({})
    expect(traceContextOf(null, 'a=1')).toEqual({})
    expect(traceContextOf(7, 7)).toEqual({})
  })
})

describe('spanId', () => {
  it('spanId depends only on the trace and the key, permanently', () => {
    expect(spanId(TRACE, 'run-1/run')).toBe(PINNED)
    expect(spanId(TRACE, 'run-2/run')).not.toBe(PINNED)
    expect(spanId(TRACE.replace('0', '1'), 'run-1/run')).not.toBe(PINNED)
  })

  it('spanId is a valid W3C id for any text', () => {
    for (const key of ['', 'ä', '💥', '\ud800', 'x'.repeat(10_000)]) {
      expect(isTraceparent(spanTraceparent(GIVEN, key)), key.slice(0, 9)).toBe(true)
    }
  })

  it('spanId is different for every call of many runs, and its bits are evenly distributed', () => {
    const ids = new Set<string>()
    const set = Array.from({ length: 64 }, () => 0)
    for (let number = 0; number < 10_000; number += 1) {
      const place = { runId: `run-${number % 100}`, taskIndex: 1, attempt: 1, iterationIndex: 0 }
      const id = spanId(TRACE, toolCallSpanKey({ ...place, toolCallId: `call-${number}` }))
      ids.add(id)
      const words = [Number.parseInt(id.slice(0, 8), 16), Number.parseInt(id.slice(8), 16)]
      for (const bit of set.keys()) {
        set[bit] = (set[bit] ?? 0) + (((words[bit >> 5] ?? 0) >>> (bit & 31)) & 1)
      }
    }
    expect(ids.size).toBe(10_000)
    expect(Math.min(...set)).toBeGreaterThan(4_700)
    expect(Math.max(...set)).toBeLessThan(5_300)
  })

  it('spanId changes about half of its bits with any one character of the key', () => {
    const before = BigInt(`0x${spanId(TRACE, 'run-1/call:1:1:0:call-1')}`)
    for (let at = 0; at < 23; at += 1) {
      const key = [...'run-1/call:1:1:0:call-1'].with(at, '~').join('')
      const changed = (before ^ BigInt(`0x${spanId(TRACE, key)}`)).toString(2).replaceAll('0', '')
      expect(changed.length, key).toBeGreaterThan(16)
      expect(changed.length, key).toBeLessThan(48)
    }
  })

  it('spanId distinguishes a run and each call, by its whole place, from all others', () => {
    const place = { runId: 'r', taskIndex: 1, attempt: 2, iterationIndex: 3, toolCallId: 'c' }
    const keys = [
      runSpanKey('r'),
      runSpanKey('s'),
      toolCallSpanKey(place),
      toolCallSpanKey({ ...place, runId: 's' }),
      toolCallSpanKey({ ...place, taskIndex: 2 }),
      toolCallSpanKey({ ...place, attempt: 3 }),
      toolCallSpanKey({ ...place, iterationIndex: 4 }),
      toolCallSpanKey({ ...place, toolCallId: 'd' }),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })
})
