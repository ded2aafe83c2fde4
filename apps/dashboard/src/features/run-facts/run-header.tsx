/** Shows the identity and state of a run in one line. */
import { useContext, type ReactNode } from 'react'
import {
  type RunState,
  type RunStatus,
  type TaskStatus,
  isTerminalRunStatus,
} from '@tutti/protocol'
import { formatCancelOrigin } from '@tutti/protocol/internal'

import { labelHold, labelRun, type Shown } from '../../ui/labels.ts'
import { linkToComparison, linkToRun } from '../../api/links.ts'
import {
  formatCount,
  formatInstant,
  formatMoney,
  formatPlural,
  formatProgress,
  formatShortId,
} from '../../lib/format.ts'
import { ShownTime } from '../../lib/use-now.ts'
import { usePageTitle } from '../../lib/use-page-title.ts'
import { Figure, Figures } from '../../ui/show/figure.tsx'
import { Marked, type MarkKind } from '../../ui/show/mark.tsx'
import { CopyButton } from '../../ui/show/text.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import styles from './run-header.module.css'

import type { RunFeedState } from '../../api/run-feed.ts'

/** The header of a run's page; `children` are its actions. */
export function RunHeader({
  runId,
  state,
  live,
  connection,
  isReplay,
  children,
}: {
  readonly runId: string
  readonly state: RunState
  /** Current state, even while an earlier position is shown. */
  readonly live: RunState
  readonly connection: RunFeedState['connection']
  /** Whether an earlier position is shown. */
  readonly isReplay: boolean
  readonly children: ReactNode
}) {
  const name = state.ensemble ?? 'Run'
  const { mark, word } = labelRun(state.status, labelHold(state.reviews))
  const outcome = describeOutcome(state)
  usePageTitle(formatRunTitle(labelRun(live.status, labelHold(live.reviews)), name))
  return (
    <header className={styles['header']}>
      <div className={styles['what']}>
        <div className={styles['names']}>
          <h1 className={styles['name']}>{name}</h1>
          <span className={styles['id']}>
            <code title={runId}>{runId}</code>
            <CopyButton text={runId} label="Copy run id" />
          </span>
        </div>
        <span role="status" className={styles['status']}>
          <Marked kind={mark}>{word}</Marked>
          <span className={styles['connection']}>
            {describeConnection(connection, state.status, isReplay)}
          </span>
        </span>
      </div>
      <RunMetrics state={state} />
      <div className={styles['actions']}>{children}</div>
      {outcome !== undefined && (
        <p className={state.status === 'FAILED' ? styles['failed'] : styles['outcome']}>
          {outcome} {state.error?.code !== undefined && <code>{state.error.code}</code>}
        </p>
      )}
      {state.parent !== undefined && <Lineage runId={runId} parent={state.parent} />}
      {isReplay && <ShownAt />}
    </header>
  )
}

interface LineageProps {
  readonly runId: string
  readonly parent: NonNullable<RunState['parent']>
}

/** The run that this one was forked or replayed from. */
function Lineage({ runId, parent }: LineageProps) {
  return (
    <p className={styles['outcome']}>
      {describeOrigin(parent)}{' '}
      <a href={linkToRun(parent.runId)}>
        <code title={parent.runId}>{formatShortId(parent.runId)}</code>
      </a>
      {' · '}
      <a href={linkToComparison(parent.runId, runId)}>Compare with its parent</a>
    </p>
  )
}

/** Describes how a run came from its parent, whose id follows. */
export function describeOrigin({ at, replay }: NonNullable<RunState['parent']>): string {
  if (replay === 'frozen') return 'Frozen replay of'
  if (replay === 'models') return 'Replay with live models of'
  return `Fork after event ${at} of`
}

function ShownAt() {
  const instant = useContext(ShownTime)
  if (instant === undefined) return null
  return <p className={styles['replay']}>State at {formatInstant(instant)}</p>
}

function RunMetrics({ state }: { readonly state: RunState }) {
  const { totals, tasks, startedAt, durationMs } = state
  const count = (wanted: TaskStatus): number =>
    tasks.filter(({ status }) => status === wanted).length
  return (
    <Figures>
      <Figure
        name="Cost"
        title={
          totals.costUsd === undefined ? 'One of the models has no configured price' : undefined
        }
      >
        {formatMoney(totals.costUsd)}
      </Figure>
      <Figure name="Elapsed">
        <Elapsed since={startedAt} ms={durationMs} />
      </Figure>
      <Figure name="Tokens">{formatCount(totals.totalTokens)}</Figure>
      <Figure name="Tool calls">{formatCount(totals.totalToolCalls)}</Figure>
      <Figure name="Progress">
        {tasks.length === 0
          ? '—'
          : formatProgress(
              { completed: count('COMPLETED'), skipped: count('SKIPPED') },
              formatPlural(tasks.length, 'task'),
            )}
      </Figure>
    </Figures>
  )
}

const LABELS: Readonly<Record<RunFeedState['connection'], string>> = {
  connecting: 'Connecting…',
  open: '',
  reconnecting: 'Reconnecting…',
  closed: 'Disconnected: reload the page to continue',
}

/**
 * Describes the connection; empty while it is open, and after the run has ended, because its feed
 * ends too.
 */
export function describeConnection(
  connection: RunFeedState['connection'],
  status: RunStatus,
  isReplay: boolean,
): string {
  if (isTerminalRunStatus(status)) return ''
  // In a replay the live run may already have ended.
  return isReplay && connection === 'closed' ? '' : LABELS[connection]
}

/** Explains the outcome of a run if its status alone does not. */
export function describeOutcome({
  status,
  error,
  exitReason,
  cancel,
  startAt,
}: Pick<RunState, 'status' | 'error' | 'exitReason' | 'cancel' | 'startAt'>): string | undefined {
  if (error !== undefined) return error.message
  if (status === 'ACCEPTED' && startAt !== undefined) {
    return `Does not start before ${formatInstant(Date.parse(startAt))}`
  }
  if (cancel !== undefined) return `Cancel: ${formatCancelOrigin(cancel)}`
  if (exitReason === 'USER_EXIT_EARLY') return 'A reviewer ended the run early'
  if (exitReason === 'TIMEOUT') return 'A review timed out and ended the run early'
  if (exitReason === 'ERROR' && status !== 'FAILED') return 'Some of the work failed'
  return undefined
}

/** Characters that every font has; titles cannot contain the SVG marks. */
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

/** Returns the page title, such as `● Running — briefing`. */
export function formatRunTitle({ mark, word }: Shown, name: string): string {
  return `${SIGNS[mark]} ${word} — ${name}`
}
