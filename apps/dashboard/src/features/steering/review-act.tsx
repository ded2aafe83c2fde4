/** A closed review in the list of what people did. */
import { lazy, Suspense, useState } from 'react'

import { DECISION } from '../../api/words.ts'
import { Loading } from '../../ui/feedback/notice.tsx'
import { Text } from '../../ui/show/text.tsx'
import styles from './steering-log.module.css'

import type { ReviewAct } from './steering-entries.ts'
import type { GateState } from '@tutti/protocol'

/** The comparison of texts is loaded when somebody asks for it. */
const DiffView = lazy(() =>
  import('../../ui/show/diff-view.tsx').then((view) => ({ default: view.DiffView })),
)

/** What was decided of which task, by whom, with the words or the changes. */
export function ReviewActView({ act: { gate, by } }: { readonly act: ReviewAct }) {
  const [isOpen, setOpen] = useState(false)
  const { feedback, revisedOutput } = gate
  return (
    <>
      <p>
        {gate.status === 'DECIDED' && <b>{by ?? 'Somebody'}</b>}
        {` ${wordsOf(gate)}`}
      </p>
      {gate.prompt !== undefined && gate.prompt !== null && (
        <p className={styles['soft']}>{gate.prompt}</p>
      )}
      {feedback !== undefined && <Text className={styles['quote'] ?? ''}>{feedback}</Text>}
      {revisedOutput !== undefined && (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>What was changed</summary>
          {isOpen && (
            <Suspense fallback={<Loading label="Comparing" />}>
              <DiffView before={originalOf(gate)} after={revisedOf(gate, revisedOutput)} />
            </Suspense>
          )}
        </details>
      )}
    </>
  )
}

const OF: Readonly<Record<GateState['timing'], string>> = {
  BEFORE_EXECUTION: 'before it began',
  DURING_EXECUTION: 'at a tool call',
  AFTER_EXECUTION: 'after it was done',
}

function wordsOf({
  status,
  decision,
  taskName,
  timing,
  toolName,
  action,
  reason,
}: GateState): string {
  const tool = toolName === undefined ? OF[timing] : `at a call of ${toolName}`
  const what = `${taskName} ${tool}`
  if (status === 'TIMED_OUT')
    return `Nobody decided on ${what} in time: ${TIMED_OUT[action ?? 'FAIL']}`
  if (status === 'WITHDRAWN') return `The review of ${what} was withdrawn: ${reason ?? ''}`
  if (decision === 'EXIT_EARLY') return `ended the run early, ${what}`
  return `${decision === undefined ? '' : DECISION[decision].toLowerCase()} ${what}`
}

const TIMED_OUT: Readonly<Record<NonNullable<GateState['action']>, string>> = {
  CONTINUE: 'it went on',
  EXIT_EARLY: 'the run ended early',
  FAIL: 'it counted as rejected',
}

function originalOf({ timing, taskOutput, taskDescription, toolInput }: GateState): string {
  if (timing === 'AFTER_EXECUTION') return taskOutput
  return timing === 'BEFORE_EXECUTION' ? taskDescription : pretty(toolInput)
}

function revisedOf({ timing }: GateState, text: string): string {
  if (timing !== 'DURING_EXECUTION') return text
  try {
    return pretty(JSON.parse(text))
  } catch {
    // The answer to a question is text.
    return text
  }
}

function pretty(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? ''
}
