/** Shows the rows of one attempt at a task. */
import { cx } from '../../lib/cx.ts'
import { useCallback, useMemo, useState, type ReactNode, memo } from 'react'
import { ArrowLeftRight } from 'lucide-react'

import { FoldMemory, createFolds } from '../../ui/layout/fold.tsx'
import { GrowingList } from '../../ui/layout/virtual-list.tsx'
import { DELEGATION_STATUS } from '../../ui/labels.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { WorkTime } from '../../ui/show/time.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { JsonView } from '../../ui/show/json-view.tsx'
import { CopyButton } from '../../ui/show/text.tsx'
import { CallRow } from './call-row.tsx'
import { ReviewRow } from './review-row.tsx'
import { GivenRow } from './given-row.tsx'
import {
  groupDirectivesByTurn,
  buildTranscriptRows,
  type TranscriptRow,
  toRowKey,
} from './transcript-rows.ts'
import { TurnRow } from './turn-row.tsx'
import { toOneLine } from './text-blocks.ts'
import { Prose } from './texts.tsx'
import styles from './transcript.module.css'

import type { RunState } from '@tutti/protocol'
import type { TaskState, DelegationState } from '@tutti/protocol/internal'

import type { Selection } from '../../api/selection.ts'

/** Typical heights of rows, in pixels; visible rows are measured. */
const HEIGHTS: Readonly<Record<TranscriptRow['kind'], number>> = {
  given: 41,
  review: 60,
  switch: 28,
  turn: 108,
  call: 24,
  delegation: 28,
  end: 90,
}

/** Forks the run from a task, or from one of its turns. */
export type OnFork = (start: {
  readonly taskName: string
  readonly turn?: { readonly attempt: number; readonly iterationIndex: number }
}) => void

interface WorkProps {
  readonly task: TaskState
  readonly state: RunState
  readonly selection: Selection | undefined
  readonly onSelect: (selection: Selection) => void
  readonly onOpenTask: (taskName: string) => void
  readonly onFork: OnFork | undefined
}

/** The work of a task; it follows the end while the task is running. */
export function Work({ task, state, selection, onSelect, onOpenTask, onFork }: WorkProps) {
  const [folds] = useState(createFolds)
  const { reviews, delegations } = state
  const rows = useMemo(
    () => buildTranscriptRows(task, { reviews, delegations }),
    [task, reviews, delegations],
  )
  const { name, attempt } = task
  const directives = useMemo(
    () => groupDirectivesByTurn({ name, attempt }, state.directives),
    [name, attempt, state.directives],
  )
  const chosen = findChosenKey(selection)
  const reveal = useReveal(rows, chosen)
  const choose = useCallback(
    (iterationIndex: number) => onSelect({ taskName: name, iterationIndex }),
    [name, onSelect],
  )
  const fork = useMemo(
    () =>
      onFork &&
      ((iterationIndex: number) => onFork({ taskName: name, turn: { attempt, iterationIndex } })),
    [name, attempt, onFork],
  )
  const content = (row: TranscriptRow): ReactNode => {
    switch (row.kind) {
      case 'given':
        return <GivenRow task={task} onOpen={onOpenTask} />
      case 'review':
        return <ReviewRow review={row.review} />
      case 'switch':
        return <SwitchRow from={row.from} to={row.to} />
      case 'turn':
        return (
          <TurnRow
            turn={row.turn}
            directives={directives.get(row.turn.iterationIndex)}
            isChosen={row.key === chosen}
            onChoose={choose}
            onFork={fork}
          />
        )
      case 'call':
        return <CallRow name={row.key} tree={row.tree} isChosen={row.key === chosen} />
      case 'delegation':
        return <DelegationRow delegation={row.delegation} onOpen={onOpenTask} />
      case 'end':
        return <EndRow task={task} />
    }
  }
  return (
    <FoldMemory value={folds}>
      <GrowingList
        items={rows}
        keyOf={({ key }) => key}
        estimate={({ kind }) => HEIGHTS[kind]}
        label={`Work of ${name}`}
        isGrowing={task.status === 'RUNNING'}
        reveal={reveal}
      >
        {content}
      </GrowingList>
    </FoldMemory>
  )
}

interface DelegationRowProps {
  readonly delegation: DelegationState
  readonly onOpen: (taskName: string) => void
}

/** A delegation; `onOpen` shows the task that it created. */
const DelegationRow = memo(function DelegationRow({ delegation, onOpen }: DelegationRowProps) {
  const { workerRole, workerTask, taskDescription = '', reason, handoff } = delegation
  const { mark, word } = DELEGATION_STATUS[delegation.status]
  return (
    <div className={cx(styles['delegation'], styles['line'], styles['wrapping'])}>
      <Mark kind={mark} label={word} />
      <span>
        {handoff === undefined ? 'Delegated' : 'Handed off'} to <strong>{workerRole}</strong>
      </span>
      {workerTask !== undefined && (
        <button type="button" className={styles['link']} onClick={() => onOpen(workerTask)}>
          {workerTask}
        </button>
      )}
      <span className={styles['gist']} title={taskDescription}>
        {toOneLine(taskDescription)}
      </span>
      <span className={styles['figure']}>
        <WorkTime work={delegation} />
      </span>
      {reason !== undefined && <p className={styles['failure']}>{reason}</p>}
    </div>
  )
})

function SwitchRow({ from, to }: { readonly from: string; readonly to: string }) {
  return (
    <p className={cx(styles['switch'], styles['line'], styles['quiet'])}>
      <ArrowLeftRight aria-hidden />
      Model switched: {from} → {to}
    </p>
  )
}

/** Returns the key of the selected row; undefined if a whole task is selected. */
function findChosenKey(selection: Selection | undefined): string | undefined {
  if (selection?.iterationIndex === undefined) return undefined
  return toRowKey(selection.iterationIndex, selection.toolCallId)
}

/**
 * Returns the index that the selected row had when it first appeared; undefined if none is
 * selected.
 */
function useReveal(rows: readonly TranscriptRow[], key: string | undefined): number | undefined {
  const [found, setFound] = useState<{ readonly key: string; readonly index: number }>()
  const isNew = key !== undefined && found?.key !== key
  const index = isNew ? rows.findIndex((row) => row.key === key) : -1
  if (isNew && index >= 0) setFound({ key, index })
  return found?.key === key ? found?.index : undefined
}

const EndRow = memo(function EndRow({ task }: { readonly task: TaskState }) {
  const { output, structuredOutput, error, skipReason, status } = task
  return (
    <section aria-label="Result" className={styles['end']}>
      {error !== undefined && status !== 'COMPLETED' && <Failure error={error} />}
      {status === 'SKIPPED' && (
        <Notice title="Task skipped">{skipReason ?? 'No reason stated'}</Notice>
      )}
      {output !== undefined && <Output task={task} output={output} />}
      {structuredOutput !== undefined && (
        <>
          <h3>Structured output</h3>
          <JsonView value={structuredOutput} label="structured output" />
        </>
      )}
    </section>
  )
})

function Failure({ error }: { readonly error: NonNullable<TaskState['error']> }) {
  const { reason, code, willRetry } = error
  const isCancelled = code === 'CANCELLED'
  return (
    <Notice
      tone={isCancelled ? 'plain' : 'failed'}
      title={isCancelled ? 'Task cancelled' : 'Task failed'}
    >
      {reason} <code>{code}</code>
      {willRetry && <p>It will be retried automatically.</p>}
    </Notice>
  )
}

interface OutputProps {
  readonly task: TaskState
  readonly output: string
}

/** The output; an answer directly above is referred to instead of repeated. */
function Output({ task: { turns }, output }: OutputProps) {
  const last = turns.at(-1)
  if (last !== undefined && last.text.trim() === output.trim()) {
    return (
      <p className={styles['same']}>
        <span>
          <strong>Output</strong>: the answer of model call {last.iterationIndex + 1}
        </span>
        <CopyButton text={output} label="Copy output" />
      </p>
    )
  }
  return (
    <>
      <h3>Output</h3>
      {output === '' ? (
        <p className={styles['soft']}>Empty</p>
      ) : (
        <Prose name="output" label="output" text={output} />
      )}
    </>
  )
}
