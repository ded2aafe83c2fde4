/** Work that a task handed to another agent, with the way to that work. */
import { memo } from 'react'

import { Mark, type MarkKind } from '../../ui/show/mark.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import styles from './delegation-row.module.css'
import { oneLine } from './text-shape.ts'

import type { DelegationState } from '@tutti/protocol'

const STATUS: Readonly<
  Record<DelegationState['status'], { readonly mark: MarkKind; readonly word: string }>
> = {
  RUNNING: { mark: 'live', word: 'Works' },
  COMPLETED: { mark: 'done', word: 'Answered' },
  FAILED: { mark: 'failed', word: 'Failed' },
}

/** A delegation; `onOpen` shows the task that it made. */
export const DelegationRow = memo(function DelegationRow({
  delegation,
  onOpen,
}: {
  readonly delegation: DelegationState
  readonly onOpen: (taskName: string) => void
}) {
  const { workerRole, workerTask, taskDescription = '', startedAt, durationMs, reason } = delegation
  const { mark, word } = STATUS[delegation.status]
  return (
    <div className={styles['row']}>
      <Mark kind={mark} label={word} />
      <span>
        Delegated to <strong>{workerRole}</strong>
      </span>
      {workerTask !== undefined && (
        <button type="button" className={styles['task']} onClick={() => onOpen(workerTask)}>
          {workerTask}
        </button>
      )}
      <span className={styles['gist']} title={taskDescription}>
        {oneLine(taskDescription)}
      </span>
      <span className={styles['span']}>
        <Elapsed
          since={startedAt}
          ms={delegation.status === 'RUNNING' ? undefined : (durationMs ?? Number.NaN)}
        />
      </span>
      {reason !== undefined && <p className={styles['reason']}>{reason}</p>}
    </div>
  )
})
