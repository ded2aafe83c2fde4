/** What came of a task: its output, or why there is none. */
import { memo } from 'react'

import { Notice } from '../../ui/feedback/notice.tsx'
import { JsonView } from '../../ui/show/json-view.tsx'
import { CopyButton } from '../../ui/show/text.tsx'
import styles from './end-row.module.css'
import { Prose } from './prose.tsx'

import type { TaskState } from '@tutti/protocol'

/** The end of a task that has ended. */
export const EndRow = memo(function EndRow({ task }: { readonly task: TaskState }) {
  const { output, structuredOutput, error, skipReason, status } = task
  return (
    <section aria-label="What came of it" className={styles['end']}>
      {error !== undefined && status !== 'COMPLETED' && <Failure error={error} />}
      {status === 'SKIPPED' && (
        <Notice title="This task was skipped">{skipReason ?? 'The run does not say why'}</Notice>
      )}
      {output !== undefined && <Output task={task} output={output} />}
      {structuredOutput !== undefined && (
        <>
          <h3>Output as a value</h3>
          <JsonView value={structuredOutput} label="the output as a value" />
        </>
      )}
    </section>
  )
})

function Failure({
  error: { reason, code, willRetry },
}: {
  readonly error: NonNullable<TaskState['error']>
}) {
  const isCancelled = code === 'CANCELLED'
  return (
    <Notice
      tone={isCancelled ? 'plain' : 'failed'}
      title={isCancelled ? 'This task was cancelled' : 'This task failed'}
    >
      {reason} <code>{code}</code>
      {willRetry && <p>It is tried again by itself.</p>}
    </Notice>
  )
}

/** An answer that stands right above is not said twice. */
function Output({
  task: { turns },
  output,
}: {
  readonly task: TaskState
  readonly output: string
}) {
  const last = turns.at(-1)
  if (last !== undefined && last.text.trim() === output.trim()) {
    return (
      <p className={styles['same']}>
        <span>
          <strong>Output</strong>: the answer of model call {last.iterationIndex + 1}
        </span>
        <CopyButton text={output} label="Copy the output" />
      </p>
    )
  }
  return (
    <>
      <h3>Output</h3>
      {output === '' ? (
        <p className={styles['soft']}>It is empty</p>
      ) : (
        <Prose name="output" label="the output" text={output} />
      )}
    </>
  )
}
