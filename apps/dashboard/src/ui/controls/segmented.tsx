/** A choice of a few options that are all visible. */
import { useId, type ReactNode } from 'react'

import styles from './segmented.module.css'

/** An option of a `Segmented`. */
export interface Segment<T extends string> {
  readonly value: T
  readonly label: ReactNode
}

/** Radio buttons in one bar; `label` is the accessible name of the group. */
export function Segmented<T extends string>({
  label,
  value,
  segments,
  onChange,
}: {
  readonly label: string
  readonly value: T
  readonly segments: readonly Segment<T>[]
  readonly onChange: (value: T) => void
}) {
  const name = useId()
  return (
    <div role="radiogroup" aria-label={label} className={styles['bar']}>
      {segments.map((segment) => (
        <label key={segment.value} className={styles['segment']}>
          <input
            type="radio"
            name={name}
            checked={segment.value === value}
            onChange={() => onChange(segment.value)}
          />
          <span>{segment.label}</span>
        </label>
      ))}
    </div>
  )
}
