/** How far something is, as it says itself. */
import styles from './progress.module.css'

/** The words, and a bar when it knows how much is done. */
export function Progress({
  label,
  message,
  fraction,
}: {
  readonly label: string
  readonly message: string
  readonly fraction?: number
}) {
  const percent = fraction === undefined ? undefined : Math.round(fraction * 100)
  return (
    <div className={styles['progress']}>
      {percent !== undefined && (
        <div
          role="progressbar"
          aria-label={`Progress of ${label}`}
          aria-valuenow={percent}
          aria-valuemin={0}
          aria-valuemax={100}
          className={styles['bar']}
        >
          <div style={{ inlineSize: `${percent}%` }} />
        </div>
      )}
      <span className={styles['words']}>
        {percent !== undefined && `${percent} % `}
        {message}
      </span>
    </div>
  )
}
