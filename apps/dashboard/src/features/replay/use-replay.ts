/** Plays a log frame by frame. */
import { startTransition, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'

import {
  advancePlayhead,
  createPlayhead,
  computeReplayOffsets,
  type Playhead,
  type ReplaySpeed,
} from './replay-clock.ts'

import type { FollowedLog } from '../../api/run-log.ts'

/** Maximum length of a frame, in milliseconds. Longer ones come from a hidden page, during which the clock is paused. */
const MAX_FRAME_MS = 250

/** The controls of a replay. */
export interface Replay {
  readonly isPlaying: boolean
  readonly speed: ReplaySpeed
  readonly setSpeed: (speed: ReplaySpeed) => void
  /** Starts or pauses; at the end it starts again from the beginning. */
  readonly toggle: () => void
  /** Shows the first `count` events; undefined follows all of them live. */
  readonly seek: (count: number | undefined) => void
}

/** Plays `log` by calling `onChange` with the number of events to show. */
export function useReplay(
  log: FollowedLog,
  position: number | undefined,
  onChange: (position: number | undefined) => void,
): Replay {
  const [isPlaying, setPlaying] = useState(false)
  const [speed, setSpeed] = useState<ReplaySpeed>(1)
  const head = useRef<Playhead>({ count: 0, offset: 0 })
  const offsets = useMemo(
    () => (isPlaying ? computeReplayOffsets(log.instants) : []),
    [isPlaying, log.instants],
  )
  const move = (count: number | undefined): void => {
    // A page that renders slower than the frame rate skips positions.
    startTransition(() => onChange(count))
  }
  const onFrame = useEffectEvent((elapsedMs: number) => {
    // A frame may still fire after the replay ends. The clock also waits until the beginning is
    // rendered; otherwise a slow page would stay at the end.
    if (!isPlaying || position === undefined) return
    const before = Math.floor(head.current.count)
    head.current = advancePlayhead(offsets, head.current, { elapsedMs, speed })
    const count = Math.floor(head.current.count)
    if (count >= log.events.length) {
      setPlaying(false)
      move(undefined)
    } else if (count !== before) move(count)
  })
  useEffect(() => {
    if (!isPlaying) return undefined
    let last = performance.now()
    const step = (now: number): void => {
      onFrame(Math.min(MAX_FRAME_MS, Math.max(0, now - last)))
      last = now
      frame = requestAnimationFrame(step)
    }
    let frame = requestAnimationFrame(step)
    return () => cancelAnimationFrame(frame)
  }, [isPlaying])
  const seek = (count: number | undefined): void => {
    const isEnd = count === undefined || count >= log.events.length
    if (isEnd) setPlaying(false)
    else head.current = createPlayhead(computeReplayOffsets(log.instants), count)
    move(isEnd ? undefined : count)
  }
  const toggle = (): void => {
    if (!isPlaying) {
      const from = position ?? 1
      head.current = createPlayhead(computeReplayOffsets(log.instants), from)
      if (position === undefined) move(from)
    }
    setPlaying(!isPlaying)
  }
  return { isPlaying, speed, setSpeed, toggle, seek }
}
