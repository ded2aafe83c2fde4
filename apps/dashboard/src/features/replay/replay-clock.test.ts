import { describe, expect, it } from 'vitest'

import {
  advanced,
  FAST_MS,
  MAX_SILENCE_MS,
  playheadAt,
  replayOffsets,
  silenceAfter,
  type ReplaySpeed,
} from './replay-clock.ts'

const FRAME_MS = 16

/** Events shown after each frame until all are. */
function played(instants: readonly number[], speed: ReplaySpeed, from = 1): readonly number[] {
  const offsets = replayOffsets(instants)
  let head = playheadAt(offsets, from)
  const counts: number[] = []
  while (Math.floor(head.count) < instants.length && counts.length < 100_000) {
    head = advanced(offsets, head, { elapsedMs: FRAME_MS, speed })
    counts.push(Math.floor(head.count))
  }
  return counts
}

describe('the axis of a replay', () => {
  it('[C1] is that of the events, but for long silences', () => {
    expect(replayOffsets([5_000, 5_400, 6_400, 96_400, 96_400, 97_401])).toEqual([
      0, 400, 1_400, 2_400, 2_400, 3_400,
    ])
    expect(replayOffsets([])).toEqual([])
  })

  it('[C1] says where a silence is shortened, and how long it was', () => {
    const instants = [0, 400, 90_400, 91_400]
    expect([0, 1, 2, 3, 4].map((count) => silenceAfter(instants, count))).toEqual([
      undefined,
      undefined,
      90_000,
      undefined,
      undefined,
    ])
  })

  it('[C4] does not change when more events come', () => {
    const instants = [0, 300, 9_000, 9_100]
    expect(replayOffsets(instants).slice(0, 3)).toEqual(replayOffsets(instants.slice(0, 3)))
  })
})

describe('the playhead', () => {
  const instants = [0, 100, 100, 250, 100_000, 100_010]

  it.each([1, 2, 4, 8] as const)('[C1] takes as long as it should at speed %i', (speed) => {
    const length = 250 + MAX_SILENCE_MS + 10
    const frames = played(instants, speed).length
    expect(frames).toBe(Math.ceil(length / speed / FRAME_MS))
  })

  it('shows an event when its time has come and not before', () => {
    const offsets = replayOffsets(instants)
    const after = (elapsedMs: number): number =>
      advanced(offsets, playheadAt(offsets, 1), { elapsedMs, speed: 1 }).count
    expect([0, 99, 100, 249, 250, 1_249, 1_250, 1_260].map(after)).toEqual([1, 1, 3, 3, 4, 4, 5, 6])
  })

  it('[C3] never goes back, also at a place whose time it has reached already', () => {
    const counts = played(instants, 1, 2)
    expect(counts[0]).toBe(3)
    expect(counts.every((count, at) => count >= (counts[at - 1] ?? 2))).toBe(true)
    expect(counts.at(-1)).toBe(6)
  })

  it.each([10, 10_000, 50_000])('[C2] shows %i events fast, and in pieces', (count) => {
    const counts = played(
      Array.from({ length: count }, (_, at) => at * 50),
      'fast',
    )
    expect(counts.length * FRAME_MS).toBeLessThanOrEqual(FAST_MS + FRAME_MS)
    expect(counts.length).toBeGreaterThan(8)
    expect(counts.at(-1)).toBe(count)
  })

  it('goes on from the event that is shown when the speed changes', () => {
    const offsets = replayOffsets(instants)
    const fast = advanced(offsets, playheadAt(offsets, 1), { elapsedMs: 60, speed: 'fast' })
    expect(Math.floor(fast.count)).toBe(4)
    const slow = advanced(offsets, fast, { elapsedMs: MAX_SILENCE_MS - 1, speed: 1 })
    expect(slow.count).toBe(4)
    expect(advanced(offsets, slow, { elapsedMs: 1, speed: 1 }).count).toBe(5)
  })
})
