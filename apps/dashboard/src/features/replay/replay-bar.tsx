/** Goes back and forth in what happened. */
import { isTerminalRunStatus, type LoggedRunEvent } from '@tutti/protocol'
import { Pause, Play, StepBack, StepForward } from 'lucide-react'
import { useState, memo, startTransition, useDeferredValue, useMemo, useOptimistic } from 'react'

import { formatCount, formatDuration, plural } from '../../lib/format.ts'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import { cx } from '../../lib/cx.ts'
import { Select } from '../../ui/controls/inputs.tsx'
import { silenceAfter, MAX_SILENCE_MS, type ReplaySpeed } from './replay-clock.ts'
import { eventLabel, nextStep, previousStep, marksOf, PLACES, type Matter } from './replay-marks.ts'
import { useReplay } from './use-replay.ts'
import styles from './replay-bar.module.css'

import type { FollowedLog } from '../../api/run-log.ts'

/** The bar; `position` is how many events are shown, undefined all of them as they come. */
export function ReplayBar({
  log,
  position,
  onChange,
}: {
  readonly log: FollowedLog
  readonly position: number | undefined
  readonly onChange: (position: number | undefined) => void
}) {
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
  const elapsed = (instants[count - 1] ?? 0) - (instants[0] ?? 0)
  const silence = replay.isPlaying ? silenceAfter(instants, count) : undefined
  const label = event === undefined ? '' : eventLabel(event)
  const isOver = isTerminalRunStatus(log.state.status)
  const isLive = position === undefined && !isOver
  const time = isLive ? <Elapsed since={log.state.startedAt} ms={null} /> : formatDuration(elapsed)
  return (
    <section aria-label="Replay" className={styles['bar']}>
      <div className={styles['buttons']}>
        <IconButton
          label="To the event before that matters"
          icon={<StepBack />}
          disabled={count <= 1}
          onClick={() => replay.seek(previousStep(events, count))}
        />
        <IconButton
          label={replay.isPlaying ? 'Pause' : 'Play'}
          icon={replay.isPlaying ? <Pause /> : <Play />}
          disabled={events.length < 2}
          onClick={replay.toggle}
        />
        <IconButton
          label="To the next event that matters"
          icon={<StepForward />}
          disabled={position === undefined}
          onClick={() => replay.seek(nextStep(events, count))}
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
          {silence === undefined ? label : `${formatDuration(silence)} of silence, shortened`}
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
 * The length of the rail, and whether it is held. It keeps its length while the reader looks back, so that the place
 * under the pointer does not move. A position from the address holds nothing: the events are still being read.
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

/** How many events have come since the reader looks back. */
function Since({ count }: { readonly count: number }) {
  if (count <= 0) return null
  return (
    <span className={styles['since']} title={plural(count, 'event')}>
      +{formatCount(count)} events
    </span>
  )
}

/** The slider; `count` of `end` events are shown. */
function Rail({
  events,
  count,
  end,
  text,
  onSeek,
}: {
  readonly events: readonly LoggedRunEvent[]
  readonly count: number
  readonly end: number
  /** Where it is, in words. */
  readonly text: string
  readonly onSeek: (count: number) => void
}) {
  // The thumb is where the pointer is, however long the page takes to follow.
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
        aria-label="Place in the run"
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

/** One path for each matter: thousands of events are five elements. */
const Marks = memo(function Marks({
  events,
  end,
}: {
  readonly events: readonly LoggedRunEvent[]
  readonly end: number
}) {
  const marks = useMemo(() => marksOf(events, end), [events, end])
  return (
    <svg className={styles['marks']} viewBox={`0 0 ${PLACES} 1`} preserveAspectRatio="none">
      {[...marks].map(([matter, places]) => (
        <path
          key={matter}
          className={cx(styles['mark'], MATTER_STYLE[matter])}
          vectorEffect="non-scaling-stroke"
          d={places.map((place) => `M${place} 0V1`).join('')}
        />
      ))}
    </svg>
  )
})

const MATTER_STYLE: Readonly<Record<Matter, string | undefined>> = {
  task: styles['task'],
  tool: styles['tool'],
  gate: styles['gate'],
  steering: styles['steering'],
  failed: styles['failed'],
}

const SPEEDS: readonly (readonly [speed: ReplaySpeed, label: string])[] = [
  [1, '1×'],
  [2, '2×'],
  [4, '4×'],
  [8, '8×'],
  ['fast', 'Fast'],
]

/** The choice of a speed, which says what it does to silences. */
function SpeedSelect({
  value,
  onChange,
}: {
  readonly value: ReplaySpeed
  readonly onChange: (speed: ReplaySpeed) => void
}) {
  const note = `Silences last ${MAX_SILENCE_MS / 1_000} s at most`
  return (
    <Select
      aria-label="Speed"
      title={note}
      className={styles['speed']}
      value={String(value)}
      onChange={({ currentTarget }) => {
        const chosen = SPEEDS.find(([speed]) => String(speed) === currentTarget.value)
        if (chosen !== undefined) onChange(chosen[0])
      }}
    >
      <optgroup label={note}>
        {SPEEDS.map(([speed, label]) => (
          <option key={label} value={String(speed)}>
            {label}
          </option>
        ))}
      </optgroup>
    </Select>
  )
}
