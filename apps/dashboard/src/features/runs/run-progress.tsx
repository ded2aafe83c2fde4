/** How far a run is: a mark for each task, or a bar when there are many, and what it works on. */
import { isTerminalRunStatus, type RunSummary } from '@tutti/protocol'

import styles from './run-progress.module.css'

/** More tasks are a bar. */
const MAX_MARKS = 8

/** The progress of a run, and the reason when it failed. */
export function RunProgress({ run }: { readonly run: RunSummary }) {
  const { taskCount, completedTasks, currentTask, error } = run
  return (
    <span className={styles['progress']}>
      <Marks run={run} />
      <span className={styles['count']}>{`${completedTasks} of ${taskCount}`}</span>
      {error !== undefined && (
        <span className={styles['error']} title={error}>
          {error}
        </span>
      )}
      {error === undefined && currentTask !== undefined && (
        <span className={styles['task']} title={currentTask.name}>
          {currentTask.name}
        </span>
      )}
    </span>
  )
}

function Marks({ run }: { readonly run: RunSummary }) {
  const { taskCount, completedTasks } = run
  if (taskCount > MAX_MARKS) {
    const share = `${(100 * completedTasks) / taskCount}%`
    return (
      <span aria-hidden className={styles['bar']}>
        <span className={styles['done']} style={{ inlineSize: share }} />
      </span>
    )
  }
  const next = nextTone(run)
  return (
    <span aria-hidden className={styles['marks']}>
      {Array.from({ length: taskCount }, (_, place) => (
        <span
          key={place}
          className={
            place < completedTasks ? styles['done'] : styles[place === completedTasks ? next : '']
          }
        />
      ))}
    </span>
  )
}

/** How the first task stands that is not done. */
function nextTone({ status, currentTask }: RunSummary): string {
  if (status === 'WAITING_REVIEW') return 'held'
  if (status === 'FAILED' || status === 'REJECTED') return 'failed'
  return currentTask === undefined || isTerminalRunStatus(status) ? '' : 'live'
}
