/** Shows the outcome, duration and output of a call. */
import { useState } from 'react'

import { findFailureCode, readFailureText } from '../../api/failure.ts'
import { formatDuration } from '../../lib/format.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { JsonText, JsonView } from '../../ui/show/json-view.tsx'
import { Marked } from '../../ui/show/mark.tsx'
import { CodeBlock } from '../../ui/show/text.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import { labelCall } from './call-labels.ts'
import styles from './tools.module.css'

import type { BenchCall } from './tool-memory.ts'
import type { ToolInvocation } from '@tutti/protocol/internal'

/** The result; `onStop` aborts a running call. */
export function CallResult({
  call,
  onStop,
}: {
  readonly call: BenchCall
  readonly onStop: () => void
}) {
  const { mark, word } = labelCall(call)
  const { outcome } = call
  const isRunning = outcome.kind === 'running'
  return (
    <div className={styles['result']}>
      <div className={styles['resulthead']} role="status">
        <Marked kind={mark}>{word}</Marked>
        {outcome.kind === 'answered' && <span>{formatDuration(outcome.answer.durationMs)}</span>}
        {isRunning && (
          <>
            <Elapsed since={new Date(call.startedAt).toISOString()} ms={undefined} />
            <Button size="s" onClick={onStop}>
              Stop
            </Button>
          </>
        )}
      </div>
      {outcome.kind === 'answered' && <Answer answer={outcome.answer} />}
      {outcome.kind === 'failed' && <Failure error={outcome.error} />}
    </div>
  )
}

const VIEWS = [
  { value: 'tree', label: 'Tree' },
  { value: 'text', label: 'Text' },
] as const

function Answer({ answer }: { readonly answer: ToolInvocation }) {
  const [view, setView] = useState<'tree' | 'text'>('tree')
  const { output, errorMessage, structured } = answer
  const isTree = output !== undefined && /^\s*[[{]/.test(output)
  return (
    <>
      {errorMessage !== undefined && (
        <Notice tone="failed" title="The tool reported an error">
          <p className={styles['message']}>{errorMessage}</p>
        </Notice>
      )}
      {output !== undefined && (
        <section className={styles['part']}>
          <header>
            <h3>Output</h3>
            {isTree && (
              <Segmented label="Output as" value={view} segments={VIEWS} onChange={setView} />
            )}
          </header>
          {output === '' && <p className={styles['soft']}>Empty</p>}
          {output !== '' && isTree && view === 'tree' && <JsonText text={output} label="output" />}
          {output !== '' && !(isTree && view === 'tree') && (
            <CodeBlock label="output">{output}</CodeBlock>
          )}
        </section>
      )}
      {structured !== undefined && (
        <section className={styles['part']}>
          <header>
            <h3>Structured output</h3>
          </header>
          <JsonView value={structured} label="structured output" />
        </section>
      )}
    </>
  )
}

/** Advice for errors that are not about the input. */
const ADVICE: Readonly<Record<string, string>> = {
  TIMED_OUT: 'The tool may still be running on the server.',
  ABORTED: 'The server aborts the call; tools that support cancellation stop.',
  CONNECTION_FAILED: 'It is unknown whether the tool was called.',
  CONCURRENCY_LIMIT: 'Try again when a running call has ended.',
}

function Failure({ error }: { readonly error: unknown }) {
  const code = findFailureCode(error)
  const advice = code === undefined ? undefined : ADVICE[code]
  return (
    <Notice tone="failed" title={code === 'ABORTED' ? 'Call stopped' : 'No result'}>
      {code !== 'ABORTED' && <p className={styles['message']}>{readFailureText(error)}</p>}
      {advice !== undefined && <p>{advice}</p>}
    </Notice>
  )
}
