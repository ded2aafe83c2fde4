/** What a run is and how it stands, in one line. */
import { useContext, type ReactNode } from 'react'

import { RUN_STATUS } from '../../api/words.ts'
import { formatCount, formatInstant, formatMoney, plural } from '../../lib/format.ts'
import { ShownTime } from '../../lib/use-now.ts'
import { usePageTitle } from '../../lib/use-page-title.ts'
import { Figure, Figures } from '../../ui/show/figure.tsx'
import { Marked } from '../../ui/show/mark.tsx'
import { CopyButton } from '../../ui/show/text.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import { connectionWords } from './connection-words.ts'
import { outcomeOf } from './outcome.ts'
import styles from './run-header.module.css'
import { runTitle } from './run-title.ts'

import type { RunFeedState } from '../../api/run-feed.ts'
import type { RunState, RunStatus } from '@tutti/protocol'

/** The head of a run's page; `children` are what can be done with it. */
export function RunHeader({
  runId,
  state,
  liveStatus,
  connection,
  isReplay,
  children,
}: {
  readonly runId: string
  readonly state: RunState
  /** The status now, also while an earlier moment is shown. */
  readonly liveStatus: RunStatus
  readonly connection: RunFeedState['connection']
  /** Whether an earlier moment is shown. */
  readonly isReplay: boolean
  readonly children: ReactNode
}) {
  const name = state.ensemble ?? 'Run'
  const { mark, word } = RUN_STATUS[state.status]
  const outcome = outcomeOf(state)
  usePageTitle(runTitle(liveStatus, name))
  return (
    <header className={styles['header']}>
      <div className={styles['what']}>
        <div className={styles['names']}>
          <h1 className={styles['name']}>{name}</h1>
          <span className={styles['id']}>
            <code title={runId}>{runId}</code>
            <CopyButton text={runId} label="Copy the id of the run" />
          </span>
        </div>
        <span role="status" className={styles['status']}>
          <Marked kind={mark}>{word}</Marked>
          <span className={styles['connection']}>
            {connectionWords(connection, state.status, isReplay)}
          </span>
        </span>
      </div>
      <RunFigures state={state} />
      <div className={styles['actions']}>{children}</div>
      {outcome !== undefined && (
        <p className={state.status === 'FAILED' ? styles['failed'] : styles['outcome']}>
          {outcome} {state.error?.code !== undefined && <code>{state.error.code}</code>}
        </p>
      )}
      {isReplay && <ShownAt />}
    </header>
  )
}

function ShownAt() {
  const instant = useContext(ShownTime)
  if (instant === undefined) return null
  return <p className={styles['replay']}>Shown as it was at {formatInstant(instant)}</p>
}

function RunFigures({ state }: { readonly state: RunState }) {
  const { totals, tasks, startedAt, durationMs } = state
  const done = tasks.filter(({ status }) => status === 'COMPLETED').length
  return (
    <Figures>
      <Figure
        name="Cost"
        title={totals.costUsd === undefined ? 'No price is known for one of the models' : undefined}
      >
        {formatMoney(totals.costUsd)}
      </Figure>
      <Figure name="Elapsed">
        <Elapsed since={startedAt} ms={durationMs} />
      </Figure>
      <Figure name="Tokens">{formatCount(totals.totalTokens)}</Figure>
      <Figure name="Tool calls">{formatCount(totals.totalToolCalls)}</Figure>
      <Figure name="Progress">
        {tasks.length === 0 ? '—' : `${done} of ${plural(tasks.length, 'task')}`}
      </Figure>
    </Figures>
  )
}
