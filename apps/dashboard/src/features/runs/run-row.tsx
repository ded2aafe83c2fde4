/** The cells of one run. The link is the whole row; tags lie above it. */
import { memo } from 'react'

import { runHref } from '../../api/links.ts'
import { RUN_STATUS } from '../../api/words.ts'
import { cx } from '../../lib/cx.ts'
import { formatCount, formatMoney, shortId } from '../../lib/format.ts'
import { Mark, Marked } from '../../ui/show/mark.tsx'
import { Ago, Elapsed } from '../../ui/show/time.tsx'
import unseen from '../../ui/show/unseen.module.css'
import { RunProgress } from './run-progress.tsx'
import { RunTags } from './run-tags.tsx'
import styles from './run-row.module.css'

import type { RunSummary } from '@tutti/protocol'

/** A run; `fits` is whether the filter still fits it. */
export const RunRow = memo(function RunRow({
  run,
  fits,
  onTag,
}: {
  readonly run: RunSummary
  readonly fits: boolean
  readonly onTag: (tag: string) => void
}) {
  const { runId, status, ensemble, startedAt, durationMs, submittedBy } = run
  const isWaiting = status === 'ACCEPTED'
  return (
    <>
      <span role="cell" className={styles['status']}>
        <Status run={run} />
        {!fits && <span className={unseen['unseen']}>, no longer in this filter</span>}
      </span>
      <span role="cell" className={cx(styles['name'], !fits && styles['past'])}>
        <a href={runHref(runId)} data-row className={styles['link']}>
          <span className={styles['ensemble']}>{ensemble}</span>{' '}
          <code className={styles['id']} title={runId}>
            {shortId(runId)}
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

/** The status; a run at work may have reviews that wait, and one that waits several. */
function Status({ run: { status, openReviews } }: { readonly run: RunSummary }) {
  const { mark, word } = RUN_STATUS[status]
  const isHeld = status === 'WAITING_REVIEW'
  return (
    <>
      <Marked kind={mark}>{word}</Marked>
      {openReviews > (isHeld ? 1 : 0) && (
        <span className={styles['reviews']}>
          {!isHeld && <Mark kind="held" />}
          {openReviews}
          <span className={unseen['unseen']}>
            {openReviews === 1 ? ' review waiting' : ' reviews waiting'}
          </span>
        </span>
      )}
    </>
  )
}
