import { describe, expect, it } from 'vitest'

import { placeEvent, resumePoint, startCursor, type EventCursor } from './event-cursor.ts'

function at(seq: number): { readonly seq: number; readonly id: string } {
  return { seq, id: `run-1:${seq}` }
}

/** The cursor after these consecutive events. */
function after(cursor: EventCursor, seqs: readonly number[]): EventCursor {
  return seqs.reduce((current, seq) => {
    const placement = placeEvent(current, at(seq))
    if (placement.kind !== 'next')
      throw new Error(`Event ${seq} must be next, is ${placement.kind}`)
    return placement.cursor
  }, cursor)
}

/** The numbers in `seqs` that the cursor accepts. */
function given(cursor: EventCursor, seqs: readonly number[]): number[] {
  let current = cursor
  return seqs.filter((seq) => {
    const placement = placeEvent(current, at(seq))
    if (placement.kind === 'next') current = placement.cursor
    return placement.kind === 'next'
  })
}

describe('placeEvent', () => {
  it('[CLIENT-K1] placeEvent accepts events in order, each once', () => {
    expect(given(startCursor(undefined, false), [0, 0, 1, 0, 1, 2, 1])).toEqual([0, 1, 2])
  })

  it('[CLIENT-K1] placeEvent drops events before the requested position', () => {
    expect(given(startCursor(3, false), [1, 2, 3, 4])).toEqual([3, 4])
    expect(given(startCursor(3, true), [1, 2, 5, 4, 9])).toEqual([5, 9])
  })

  it('[CLIENT-K2] placeEvent detects a gap, and keeps its position', () => {
    const cursor = after(startCursor(undefined, false), [0, 1])
    expect(placeEvent(cursor, at(3))).toEqual({ kind: 'gap', expectedSeq: 2 })
    expect(given(cursor, [3, 2, 3])).toEqual([2, 3])
  })

  it('[CLIENT-K2] placeEvent detects a gap before the first event', () => {
    expect(placeEvent(startCursor(undefined, false), at(1))).toEqual({
      kind: 'gap',
      expectedSeq: 0,
    })
    expect(placeEvent(startCursor(3, false), at(5))).toEqual({ kind: 'gap', expectedSeq: 3 })
  })

  it('placeEvent accepts any first event if the position is counted from the end', () => {
    expect(given(startCursor(-2, false), [7, 8, 8, 10, 9])).toEqual([7, 8, 9])
  })

  it('placeEvent allows gaps if only some types are requested', () => {
    expect(given(startCursor(undefined, true), [4, 2, 9, 9, 10])).toEqual([4, 9, 10])
  })

  it('placeEvent is correct for any order in which a faulty server repeats and swaps events', () => {
    // All sequences of five numbers from 0 to 3.
    for (let code = 0; code < 4 ** 5; code += 1) {
      const seqs = [0, 1, 2, 3, 4].map((place) => Math.floor(code / 4 ** place) % 4)
      const unfiltered = given(startCursor(0, false), seqs)
      const filtered = given(startCursor(0, true), seqs)
      expect(unfiltered).toEqual(unfiltered.map((_, index) => index))
      expect(filtered).toEqual([...new Set(filtered)].toSorted((a, b) => a - b))
    }
  })
})

describe('resumePoint', () => {
  it('resumePoint requests the first event without a position', () => {
    expect(resumePoint(startCursor(undefined, false))).toEqual({
      query: { from: undefined },
      headers: {},
    })
  })

  it.each([0, 3, -2])(
    '[CLIENT-K3] resumePoint keeps from=%i until an event has arrived',
    (from) => {
      expect(resumePoint(startCursor(from, false))).toEqual({ query: { from }, headers: {} })
    },
  )

  it('[CLIENT-K3] resumePoint continues after the last event', () => {
    expect(resumePoint(after(startCursor(3, false), [3, 4]))).toEqual({
      query: { from: undefined },
      headers: { 'last-event-id': 'run-1:4' },
    })
  })

  it('resumePoint continues by number after an id that a header cannot contain', () => {
    const placement = placeEvent(startCursor(undefined, false), { seq: 0, id: 'läuft:0' })
    expect(placement.kind === 'next' && resumePoint(placement.cursor)).toEqual({
      query: { from: 1 },
      headers: {},
    })
  })
})
