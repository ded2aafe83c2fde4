/** What is under review. */
import { useState } from 'react'

import { Segmented } from '../../ui/controls/segmented.tsx'
import { JsonText, JsonView } from '../../ui/show/json-view.tsx'
import { CopyButton, Text } from '../../ui/show/text.tsx'
import { isQuestion, type ReviewLike } from './review-like.ts'
import { subjectOf } from './review-words.ts'
import styles from './review-panel.module.css'

const VIEWS = [
  { value: 'markdown', label: 'Read' },
  { value: 'prose', label: 'Source' },
] as const

/** The output, the tool call or the task that somebody is asked about. */
export function ReviewSubject({ review }: { readonly review: ReviewLike }) {
  const { timing, taskOutput, taskDescription, detail } = review
  const label = subjectOf(review)
  const [view, setView] = useState<'markdown' | 'prose'>('markdown')
  const isText = timing === 'AFTER_EXECUTION' && !/^\s*[[{]/.test(taskOutput)
  return (
    <div className={styles['subject']}>
      <div className={styles['head']}>
        <p className={styles['label']}>{label}</p>
        {isText && (
          <Segmented label="Form of the output" value={view} segments={VIEWS} onChange={setView} />
        )}
        {isText && <CopyButton text={taskOutput} label="Copy the output" />}
      </div>
      {/* What scrolls can be scrolled with the keyboard. */}
      <div role="group" aria-label={label} tabIndex={0} className={styles['scroll']}>
        {isText && (
          <Text kind={view} isAwaited>
            {taskOutput === '' ? 'The output is empty.' : taskOutput}
          </Text>
        )}
        {timing === 'AFTER_EXECUTION' && !isText && (
          <JsonText text={taskOutput} label="the output" />
        )}
        {timing === 'BEFORE_EXECUTION' && <Text>{taskDescription}</Text>}
        {timing === 'DURING_EXECUTION' && (
          <>
            {hasWordsOfItsOwn(review) && <Text>{taskDescription}</Text>}
            {!isQuestion(review) && detail?.tool !== undefined && (
              <JsonView value={detail.tool.input} label="the input" depth={3} />
            )}
          </>
        )}
      </div>
    </div>
  )
}

/** A tool that says nothing of itself is described by its name and its input, which are shown anyway. */
function hasWordsOfItsOwn({ taskDescription, detail }: ReviewLike): boolean {
  const name = detail?.tool?.name
  return name === undefined || !taskDescription.startsWith(`Call tool: ${name}\nInput: `)
}
