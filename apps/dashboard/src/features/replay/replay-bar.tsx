/** Replays a run. */
import { isTerminalRunStatus, type LoggedRunEvent } from '@tutti/protocol'
import { Pause, Play, StepBack, StepForward } from 'lucide-react'
import { useState, memo, startTransition, useDeferredValue, useMemo, useOptimistic } from 'react'

import { formatCount, formatDuration, formatPlural } from '../../lib/format.ts'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import { cx } from '../../lib/cx.ts'
import { Select } from '../../ui/controls/inputs.tsx'
import { findPauseAfter, MAX_PAUSE_MS, measureElapsedMs, type ReplaySpeed } from './replay-clock.ts'
import {
  formatEventLabel,
  findNextStep,
  findPreviousStep,
  computeMarks,
  SLOTS,
} from './replay-marks.ts'
import { useReplay } from './use-replay.ts'
import styles from './replay-bar.module.css'

import type { KeySubject } from '../../api/event-kinds.ts'
import type { FollowedLog } from '../../api/run-log.ts'

interface ReplayBarProps {
  readonly log: FollowedLog
  readonly position: number | undefined
  readonly onChange: (position: number | undefined) => void
}

/**
 * The replay bar; `position` is the number of events shown, undefined to follow all of them live.
 */
export function ReplayBar({ log, position, onChange }: ReplayBarProps) {
  const { events, instants } = log
  const [known, setHeld] = useHeldLength(events.length, position)
  const replay = useReplay(log, position, (next) => {
    setHeld(next !== undefined)
    onChange(next)
  })
  const end = position === undefined ? events.length : Math.max(known, position)
  const count = position ?? events.length
  const event = events[count - 1]
  const since = events.length - end
  const elapsed = measureElapsedMs(instants, log.state, count)
  const silence = replay.isPlaying ? findPauseAfter(instants, count) : undefined
  const label = event === undefined ? '' : formatEventLabel(event)
  const isOver = isTerminalRunStatus(log.state.status)
  const isLive = position === undefined && !isOver
  const time = isLive ? <Elapsed since={log.state.startedAt} ms={null} /> : formatDuration(elapsed)
  return (
    <section aria-label="Replay" className={styles['bar']}>
      <div className={styles['buttons']}>
        <IconButton
          label="Go to previous key event"
          icon={<StepBack />}
          disabled={count <= 1}
          onClick={() => replay.seek(findPreviousStep(events, count))}
        />
        <IconButton
          label={replay.isPlaying ? 'Pause' : 'Play'}
          icon={replay.isPlaying ? <Pause /> : <Play />}
          disabled={events.length < 2}
          onClick={replay.toggle}
        />
        <IconButton
          label="Go to next key event"
          icon={<StepForward />}
          disabled={position === undefined}
          onClick={() => replay.seek(findNextStep(events, count))}
        />
      </div>
      <span className={styles['time']}>{time}</span>
      <Rail
        events={events}
        count={count}
        end={end}
        text={`Event ${count} of ${events.length}, ${label}, ${formatDuration(elapsed)} into the run`}
        onSeek={replay.seek}
      />
      <span className={styles['event']} title={label}>
        <span className={styles['seq']}>
          {count}
          <span className={styles['of']}> / {events.length}</span>
        </span>
        <span className={styles['word']}>
          {silence === undefined ? label : `${formatDuration(silence)} pause, shortened`}
        </span>
      </span>
      <SpeedSelect value={replay.speed} onChange={replay.setSpeed} />
      <Button
        size="s"
        kind={position === undefined ? 'quiet' : 'plain'}
        aria-pressed={position === undefined}
        className={styles['end']}
        onClick={() => replay.seek(undefined)}
      >
        {isOver ? 'End' : 'Live'}
        <Since count={since} />
      </Button>
    </section>
  )
}

/**
 * Returns the length of the rail, and a function that holds it. It is held while the reader looks
 * back, so that the position under the pointer does not move. A position from the URL does not hold
 * it, because events are still loading.
 */
function useHeldLength(
  length: number,
  position: number | undefined,
): readonly [number, (isHeld: boolean) => void] {
  const [isHeld, setHeld] = useState(false)
  const [known, setKnown] = useState(length)
  if (position === undefined && isHeld) setHeld(false)
  if (!isHeld && known !== length) setKnown(length)
  return [known, setHeld]
}

/** The number of events that have arrived since the reader looked back. */
function Since({ count }: { readonly count: number }) {
  if (count <= 0) return null
  return (
    <span className={styles['since']} title={formatPlural(count, 'event')}>
      +{formatCount(count)} events
    </span>
  )
}

interface RailProps {
  readonly events: readonly LoggedRunEvent[]
  readonly count: number
  readonly end: number
  /** Describes the position. */
  readonly text: string
  readonly onSeek: (count: number) => void
}

/** The slider; `count` of `end` events are shown. */
function Rail({ events, count, end, text, onSeek }: RailProps) {
  // The thumb follows the pointer at once, however long the page takes to render.
  const [thumb, setThumb] = useOptimistic(count)
  const shown = end <= 1 ? 1 : (thumb - 1) / (end - 1)
  return (
    <div className={styles['rail']}>
      <div className={styles['track']} aria-hidden>
        <Marks events={useDeferredValue(events)} end={useDeferredValue(end)} />
        <div className={styles['past']} style={{ width: `${shown * 100}%` }} />
      </div>
      <input
        type="range"
        className={styles['slider']}
        aria-label="Position in the run"
        aria-valuetext={text}
        min={Math.min(1, end)}
        max={end}
        value={thumb}
        onChange={({ currentTarget: { valueAsNumber: wanted } }) =>
          startTransition(() => {
            setThumb(wanted)
            onSeek(wanted)
          })
        }
      />
    </div>
  )
}

interface MarksProps {
  readonly events: readonly LoggedRunEvent[]
  readonly end: number
}

/**
 * The marks on the rail: one path per kind of event, so that thousands of events need five
 * elements.
 */
const Marks = memo(function Marks({ events, end }: MarksProps) {
  const marks = useMemo(() => computeMarks(events, end), [events, end])
  return (
    <svg className={styles['marks']} viewBox={`0 0 ${SLOTS} 1`} preserveAspectRatio="none">
      {[...marks].map(([matter, slots]) => (
        <path
          key={matter}
          className={cx(styles['mark'], SUBJECT_STYLE[matter])}
          vectorEffect="non-scaling-stroke"
          d={slots.map((slot) => `M${slot} 0V1`).join('')}
        />
      ))}
    </svg>
  )
})

const SUBJECT_STYLE: Readonly<Record<KeySubject, string | undefined>> = {
  task: styles['task'],
  tool: styles['tool'],
  review: styles['review'],
  steering: styles['steering'],
  failed: styles['failed'],
}

const SPEEDS: readonly ReplaySpeed[] = [1, 2, 4, 8, 'fast']

interface SpeedSelectProps {
  readonly value: ReplaySpeed
  readonly onChange: (speed: ReplaySpeed) => void
}

/** A select of the speed, with a note on shortened pauses. */
function SpeedSelect({ value, onChange }: SpeedSelectProps) {
  const note = `Pauses are shortened to ${MAX_PAUSE_MS / 1_000} s`
  return (
    <Select
      aria-label="Speed"
      title={note}
      className={styles['speed']}
      value={String(value)}
      onChange={({ currentTarget }) => {
        const chosen = SPEEDS.find((speed) => String(speed) === currentTarget.value)
        if (chosen !== undefined) onChange(chosen)
      }}
    >
      <optgroup label={note}>
        {SPEEDS.map((speed) => (
          <option key={speed} value={String(speed)}>
            {speed === 'fast' ? 'Fast' : `${speed}×`}
          </option>
        ))}
      </optgroup>
    </Select>
  )
}
