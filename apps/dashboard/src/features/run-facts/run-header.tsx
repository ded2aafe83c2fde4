/** What a run is and how it stands, in one line. */
import { useContext, type ReactNode } from 'react'
import { type RunState, type RunStatus, isTerminalRunStatus } from '@tutti/protocol'

import { RUN_STATUS } from '../../ui/labels.ts'
import { formatCount, formatInstant, formatMoney, plural } from '../../lib/format.ts'
import { ShownTime } from '../../lib/use-now.ts'
import { usePageTitle } from '../../lib/use-page-title.ts'
import { Figure, Figures } from '../../ui/show/figure.tsx'
import { Marked, type MarkKind } from '../../ui/show/mark.tsx'
import { CopyButton } from '../../ui/show/text.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import styles from './run-header.module.css'

import type { RunFeedState } from '../../api/run-feed.ts'

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

const WORDS: Readonly<Record<RunFeedState['connection'], string>> = {
  connecting: 'Connecting…',
  open: '',
  reconnecting: 'Reconnecting…',
  closed: 'Not connected: load the page again to go on',
}

/** Nothing while it is open, and when there is nothing more to hear: the connection ends with the run. */
export function connectionWords(
  connection: RunFeedState['connection'],
  status: RunStatus,
  isReplay: boolean,
): string {
  if (isTerminalRunStatus(status)) return ''
  // In a replay the run may be over already.
  return isReplay && connection === 'closed' ? '' : WORDS[connection]
}

/** Why a run ended as it did, where its status alone does not say it. */
export function outcomeOf({
  status,
  error,
  exitReason,
}: Pick<RunState, 'status' | 'error' | 'exitReason'>): string | undefined {
  if (error !== undefined) return error.message
  if (exitReason === 'USER_EXIT_EARLY') return 'A reviewer ended it early'
  if (exitReason === 'TIMEOUT') return 'Its time was up'
  if (exitReason === 'ERROR' && status !== 'FAILED') return 'Something failed on the way'
  return undefined
}

/** Signs that every font has, as a title has no marks. */
const SIGNS: Readonly<Record<MarkKind, string>> = {
  queued: '○',
  live: '●',
  stopping: '◐',
  held: '◆',
  done: '✓',
  failed: '✕',
  stopped: '■',
  skipped: '–',
}

/** `● Running — briefing`. */
export function runTitle(status: RunStatus, name: string): string {
  const { mark, word } = RUN_STATUS[status]
  return `${SIGNS[mark]} ${word} — ${name}`
}
