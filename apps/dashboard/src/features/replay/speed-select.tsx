/** How fast a run is replayed. */
import { Select } from '../../ui/controls/inputs.tsx'
import styles from './replay-bar.module.css'
import { MAX_SILENCE_MS, type ReplaySpeed } from './replay-clock.ts'

const SPEEDS: readonly (readonly [speed: ReplaySpeed, label: string])[] = [
  [1, '1×'],
  [2, '2×'],
  [4, '4×'],
  [8, '8×'],
  ['fast', 'Fast'],
]

/** The choice of a speed, which says what it does to silences. */
export function SpeedSelect({
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
