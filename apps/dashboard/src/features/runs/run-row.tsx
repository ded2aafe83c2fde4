/** Renders the cells of a run. A link covers the whole row; tags lie above it. */
import { memo } from 'react'
import { type RunSummary, isTerminalRunStatus } from '@tutti/protocol'
import type { TagMap } from '@tutti/protocol/internal'

import { linkToRun } from '../../api/links.ts'
import { RUN_STATUS } from '../../ui/labels.ts'
import { cx } from '../../lib/cx.ts'
import {
  formatCount,
  formatInstant,
  formatMoney,
  formatProgress,
  formatShortId,
} from '../../lib/format.ts'
import { Mark, Marked } from '../../ui/show/mark.tsx'
import { Ago, Elapsed } from '../../ui/show/time.tsx'
import hidden from '../../ui/show/visually-hidden.module.css'
import styles from './run-row.module.css'

/** A run; `fits` is whether it still matches the filter. */
export const RunListRow = memo(function RunRow({
  run,
  fits,
  isPicked,
  onPick,
  onTag,
}: {
  readonly run: RunSummary
  readonly fits: boolean
  /** Whether the run is selected for a comparison; undefined while none is being selected. */
  readonly isPicked: boolean | undefined
  readonly onPick: (runId: string) => void
  readonly onTag: (tag: string) => void
}) {
  const { runId, status, ensemble, startedAt, durationMs, submittedBy } = run
  const isWaiting = status === 'ACCEPTED'
  return (
    <>
      <span role="cell" className={styles['status']}>
        {isPicked !== undefined && (
          <input
            type="checkbox"
            className={styles['pick']}
            aria-label={`Compare ${ensemble} ${runId}`}
            checked={isPicked}
            onChange={() => onPick(runId)}
          />
        )}
        <Status run={run} />
        {!fits && <span className={hidden['hidden']}>, no longer matches the filter</span>}
      </span>
      <span role="cell" className={cx(styles['name'], !fits && styles['past'])}>
        <a href={linkToRun(runId)} data-row className={styles['link']}>
          <span className={styles['ensemble']}>{ensemble}</span>{' '}
          <code className={styles['id']} title={runId}>
            {formatShortId(runId)}
          </code>
        </a>
        {submittedBy !== undefined && <span className={styles['by']}>{`by ${submittedBy}`}</span>}
      </span>
      <span role="cell" className={styles['tags']}>
        <RunTags tags={run.tags} onTag={onTag} />
      </span>
      <span role="cell" className={styles['progress']}>
        <RunProgress run={run} />
      </span>
      <span role="cell" className={styles['started']}>
        <Ago at={startedAt} />
      </span>
      <span role="cell" className={styles['duration']}>
        <Elapsed since={isWaiting ? undefined : startedAt} ms={durationMs} />
      </span>
      <span role="cell" className={styles['tokens']}>
        {formatCount(run.totalTokens)}
      </span>
      <span role="cell" className={styles['cost']}>
        {formatMoney(run.costUsd)}
      </span>
    </>
  )
})

/** The status of a run, with the number of open reviews if the status does not imply it. */
function Status({ run }: { readonly run: RunSummary }) {
  const { status, openReviews } = run
  const { mark, word } = RUN_STATUS[status]
  const isHeld = status === 'WAITING_REVIEW'
  return (
    <>
      <Marked kind={mark}>{word}</Marked>
      {openReviews > (isHeld ? 1 : 0) && (
        <span className={styles['reviews']}>
          {!isHeld && <Mark kind="held" />}
          {openReviews}
          <span className={hidden['hidden']}>
            {openReviews === 1 ? ' open review' : ' open reviews'}
          </span>
        </span>
      )}
    </>
  )
}

/** Maximum number of tasks shown as single marks; more are shown as a bar. */
const MAX_MARKS = 8

/** The progress of a run, and its error if it failed. */
function RunProgress({ run }: { readonly run: RunSummary }) {
  const { status, taskCount, completedTasks, skippedTasks, currentTask, error, startAt } = run
  return (
    <span className={styles['runProgressProgress']}>
      <Marks run={run} />
      <span className={styles['count']}>
        {formatProgress({ completed: completedTasks, skipped: skippedTasks }, `${taskCount}`)}
      </span>
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
      {status === 'ACCEPTED' && startAt !== undefined && (
        <span className={styles['task']}>{`not before ${formatInstant(Date.parse(startAt))}`}</span>
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
  const next = chooseNextTone(run)
  return (
    <span aria-hidden className={styles['marks']}>
      {Array.from({ length: taskCount }, (_, index) => (
        <span
          key={index}
          className={
            index < completedTasks ? styles['done'] : styles[index === completedTasks ? next : '']
          }
        />
      ))}
    </span>
  )
}

/** Returns the style of the first incomplete task. */
function chooseNextTone({ status, currentTask }: RunSummary): string {
  if (status === 'WAITING_REVIEW') return 'held'
  if (status === 'FAILED' || status === 'REJECTED') return 'failed'
  const isLive = currentTask !== undefined && status !== 'WAITING' && !isTerminalRunStatus(status)
  return isLive ? 'live' : ''
}

/** Maximum number of tags shown; the page of the run has all. */
const SHOWN = 2

function RunTags({
  tags,
  onTag,
}: {
  readonly tags: Readonly<TagMap>
  readonly onTag: (tag: string) => void
}) {
  const entries = Object.entries(tags)
  return (
    <>
      {entries.slice(0, SHOWN).map(([key, value]) => (
        <button
          key={key}
          type="button"
          // The search finds tags too. Two more tab stops per row would make a long list slow to
          // walk.
          tabIndex={-1}
          className={styles['tag']}
          aria-label={`Filter by tag ${key}: ${value}`}
          title={`${key}: ${value}`}
          onClick={() => onTag(`${key}:${value}`)}
        >
          <span className={styles['key']}>{key}</span> {String(value)}
        </button>
      ))}
      {entries.length > SHOWN && (
        <span className={styles['more']}>{`+${entries.length - SHOWN}`}</span>
      )}
    </>
  )
}
