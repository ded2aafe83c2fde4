import { describe, expect, it } from 'vitest'

import {
  advancePlayhead,
  FAST_MS,
  MAX_PAUSE_MS,
  createPlayhead,
  computeReplayOffsets,
  findPauseAfter,
  measureElapsedMs,
  type ReplaySpeed,
} from './replay-clock.ts'

const FRAME_MS = 16

/** Numbers of events shown after each frame until the end. */
function played(instants: readonly number[], speed: ReplaySpeed, from = 1): readonly number[] {
  const offsets = computeReplayOffsets(instants)
  let head = createPlayhead(offsets, from)
  const counts: number[] = []
  while (Math.floor(head.count) < instants.length && counts.length < 100_000) {
    head = advancePlayhead(offsets, head, { elapsedMs: FRAME_MS, speed })
    counts.push(Math.floor(head.count))
  }
  return counts
}

describe('computeReplayOffsets', () => {
  it('[DASH-RC1] computeReplayOffsets keeps the distances of events, except for long pauses', () => {
    expect(computeReplayOffsets([5_000, 5_400, 6_400, 96_400, 96_400, 97_401])).toEqual([
      0, 400, 1_400, 2_400, 2_400, 3_400,
    ])
    expect(computeReplayOffsets([])).toEqual([])
  })

  it('[DASH-RC1] computeReplayOffsets reports which pauses are shortened, and their actual length', () => {
    const instants = [0, 400, 90_400, 91_400]
    expect([0, 1, 2, 3, 4].map((count) => findPauseAfter(instants, count))).toEqual([
      undefined,
      undefined,
      90_000,
      undefined,
      undefined,
    ])
  })

  it('[DASH-RC4] computeReplayOffsets keeps the offsets when more events arrive', () => {
    const instants = [0, 300, 9_000, 9_100]
    expect(computeReplayOffsets(instants).slice(0, 3)).toEqual(
      computeReplayOffsets(instants.slice(0, 3)),
    )
  })
})

describe('advancePlayhead', () => {
  const instants = [0, 100, 100, 250, 100_000, 100_010]

  it.each([1, 2, 4, 8] as const)(
    '[DASH-RC1] advancePlayhead takes the expected time at speed %i',
    (speed) => {
      const length = 250 + MAX_PAUSE_MS + 10
      const frames = played(instants, speed).length
      expect(frames).toBe(Math.ceil(length / speed / FRAME_MS))
    },
  )

  it('advancePlayhead shows an event when its time has come, and not before', () => {
    const offsets = computeReplayOffsets(instants)
    const after = (elapsedMs: number): number =>
      advancePlayhead(offsets, createPlayhead(offsets, 1), { elapsedMs, speed: 1 }).count
    expect([0, 99, 100, 249, 250, 1_249, 1_250, 1_260].map(after)).toEqual([1, 1, 3, 3, 4, 4, 5, 6])
  })

  it('[DASH-RC3] advancePlayhead never goes back, even if the time of a position has already passed', () => {
    const counts = played(instants, 1, 2)
    expect(counts[0]).toBe(3)
    expect(counts.every((count, at) => count >= (counts[at - 1] ?? 2))).toBe(true)
    expect(counts.at(-1)).toBe(6)
  })

  it.each([10, 10_000, 50_000])(
    '[DASH-RC2] advancePlayhead plays %i events fast, in several steps',
    (count) => {
      const counts = played(
        Array.from({ length: count }, (_, at) => at * 50),
        'fast',
      )
      expect(counts.length * FRAME_MS).toBeLessThanOrEqual(FAST_MS + FRAME_MS)
      expect(counts.length).toBeGreaterThan(8)
      expect(counts.at(-1)).toBe(count)
    },
  )

  it('advancePlayhead continues from the shown event when the speed changes', () => {
    const offsets = computeReplayOffsets(instants)
    const fast = advancePlayhead(offsets, createPlayhead(offsets, 1), {
      elapsedMs: 60,
      speed: 'fast',
    })
    expect(Math.floor(fast.count)).toBe(4)
    const slow = advancePlayhead(offsets, fast, { elapsedMs: MAX_PAUSE_MS - 1, speed: 1 })
    expect(slow.count).toBe(4)
    expect(advancePlayhead(offsets, slow, { elapsedMs: 1, speed: 1 }).count).toBe(5)
  })
})

describe('the elapsed time of a replay', () => {
  const queuedMs = Date.parse('2026-01-01T00:00:00.000Z')
  const instants = [queuedMs, queuedMs + 600, queuedMs + 700, queuedMs + 790]
  const state = { startedAt: '2026-01-01T00:00:00.600Z', durationMs: 166 }

  it('The elapsed time of a replay counts from the start of the run, without its time in the queue', () => {
    const elapsed = [0, 1, 2, 3].map((count) => measureElapsedMs(instants, state, count))
    expect(elapsed).toEqual([0, 0, 0, 100])
  })

  it('The elapsed time of a replay is the duration of the run at its end', () => {
    expect(measureElapsedMs(instants, state, 4)).toBe(166)
    const { startedAt } = state
    expect(measureElapsedMs(instants, { startedAt }, 4)).toBe(190)
  })

  it('The elapsed time of a replay is 0 before the run has started', () => {
    expect(measureElapsedMs(instants.slice(0, 1), {}, 1)).toBe(0)
  })
})
