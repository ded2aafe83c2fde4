/** Plays a log: moves the place that is shown on with the time, frame by frame. */
import { startTransition, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'

import {
  advanced,
  playheadAt,
  replayOffsets,
  type Playhead,
  type ReplaySpeed,
} from './replay-clock.ts'

import type { FollowedLog } from '../../api/run-log.ts'

/** A frame that comes later than this is that of a page nobody saw meanwhile: the time stood still. */
const LONGEST_FRAME_MS = 250

/** The playing of a log. */
export interface Replay {
  readonly isPlaying: boolean
  readonly speed: ReplaySpeed
  readonly setSpeed: (speed: ReplaySpeed) => void
  /** Plays from where it is, or from the beginning when it is at the end; or stands still. */
  readonly toggle: () => void
  /** Shows the first `count` events; undefined is all of them, as they come. */
  readonly seek: (count: number | undefined) => void
}

/** Plays `log` by telling `onChange` how many events are shown. */
export function useReplay(
  log: FollowedLog,
  position: number | undefined,
  onChange: (position: number | undefined) => void,
): Replay {
  const [isPlaying, setPlaying] = useState(false)
  const [speed, setSpeed] = useState<ReplaySpeed>(1)
  const head = useRef<Playhead>({ count: 0, offset: 0 })
  const offsets = useMemo(
    () => (isPlaying ? replayOffsets(log.instants) : []),
    [isPlaying, log.instants],
  )
  const move = (count: number | undefined): void => {
    // A page that takes longer to draw than a frame leaves out what lies between.
    startTransition(() => onChange(count))
  }
  const onFrame = useEffectEvent((elapsedMs: number) => {
    // The frames end a little after the playing; and the time stands still until the beginning is drawn, as a slow
    // page would go from the end to the end.
    if (!isPlaying || position === undefined) return
    const before = Math.floor(head.current.count)
    head.current = advanced(offsets, head.current, { elapsedMs, speed })
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
      onFrame(Math.min(LONGEST_FRAME_MS, Math.max(0, now - last)))
      last = now
      frame = requestAnimationFrame(step)
    }
    let frame = requestAnimationFrame(step)
    return () => cancelAnimationFrame(frame)
  }, [isPlaying])
  const seek = (count: number | undefined): void => {
    const isEnd = count === undefined || count >= log.events.length
    if (isEnd) setPlaying(false)
    else head.current = playheadAt(replayOffsets(log.instants), count)
    move(isEnd ? undefined : count)
  }
  const toggle = (): void => {
    if (!isPlaying) {
      const from = position ?? 1
      head.current = playheadAt(replayOffsets(log.instants), from)
      if (position === undefined) move(from)
    }
    setPlaying(!isPlaying)
  }
  return { isPlaying, speed, setSpeed, toggle, seek }
}
