/** The name of the product with its sign: a fermata, which holds everybody until the conductor goes on. */
import styles from './key-screen.module.css'

/** The wordmark. */
export function Wordmark() {
  return (
    <p className={styles['wordmark']}>
      <svg viewBox="0 0 16 16" aria-hidden>
        <path d="M2.5 11a5.5 5.5 0 0 1 11 0" />
        <circle cx="8" cy="10.6" r="1.7" />
      </svg>
      Tutti
    </p>
  )
}
