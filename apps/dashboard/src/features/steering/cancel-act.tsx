/** A cancel in the list of what people did. */
import { formatClock, formatDuration } from '../../lib/format.ts'
import styles from './steering-log.module.css'

import type { CancelAct } from './steering-entries.ts'

/** Who asked and how, and when the run had stopped. */
export function CancelActView({ act }: { readonly act: CancelAct }) {
  const { by, mode } = act
  const how = mode === 'abort' ? 'stopping the work in flight' : 'letting running tasks finish'
  return (
    <>
      <p>
        <b>{by ?? 'Somebody'}</b>
        {` cancelled the run, ${how}`}
      </p>
      <p className={act.isOver ? styles['effect'] : styles['pending']}>{effectOf(act)}</p>
    </>
  )
}

function effectOf({ at, isOver, stoppedAt, endedOtherwise }: CancelAct): string {
  if (!isOver) return 'What is in flight is ending'
  const took = at === undefined || stoppedAt === undefined ? undefined : stoppedAt - at
  const after = took === undefined ? '' : `, ${formatDuration(took)} after`
  const when = stoppedAt === undefined ? '' : ` at ${formatClock(stoppedAt).slice(0, 8)}`
  if (endedOtherwise) return `The run ended${when}${after}: nothing was left to stop`
  return `Stopped${when}${after}`
}
