/** Edits the subject of a review, with a diff. Loaded when first needed. */
import { useDeferredValue } from 'react'

import { cx } from '../../lib/cx.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Field } from '../../ui/controls/field.tsx'
import { TextArea } from '../../ui/controls/inputs.tsx'
import { DiffView } from '../../ui/show/diff-view.tsx'
import { findJsonProblem, mustBeJson, findOriginalText } from './decision-body.ts'
import { focusOnce, ReviewForm, type ReviewFormProps } from './review-form.tsx'
import { isQuestion, isClientCall, type ReviewLike } from './review-like.ts'
import { labelSubject } from './review-labels.ts'
import styles from './review-panel.module.css'

/** The editor; the answer to a question has no diff. */
export function EditForm(props: ReviewFormProps) {
  const { review, draft, change, takesFocus } = props
  const original = findOriginalText(review)
  const text = draft.text ?? original
  const isResult = isClientCall(review)
  const isAnswer = isQuestion(review) || isResult
  const isJson = mustBeJson(review)
  const problem = isJson ? findJsonProblem(text) : undefined
  const warning = isJson ? undefined : findLostJson(original, text)
  const isSame = text === original && !isAnswer
  return (
    <ReviewForm
      {...props}
      mode="EDIT"
      submit={isAnswer ? 'Answer' : 'Approve with changes'}
      isBlocked={problem !== undefined || isSame}
    >
      <div className={isAnswer ? undefined : styles['split']}>
        <Field
          label={isResult ? 'Result of the call' : isAnswer ? 'Answer' : labelSubject(review)}
          hint={warning ?? describeExpected(review)}
          errors={problem === undefined ? [] : [problem]}
        >
          {(control) => (
            <TextArea
              {...control}
              ref={takesFocus ? focusOnce : undefined}
              code={!isQuestion(review) && review.kind !== 'TASK_INPUT'}
              rows={6}
              className={styles['editor'] ?? ''}
              value={text}
              onChange={({ target }) => change({ text: target.value })}
            />
          )}
        </Field>
        {!isAnswer && <Changes original={original} text={text} isCode={isJson} />}
      </div>
      {!isAnswer && !isSame && (
        <div>
          <Button size="s" kind="quiet" onClick={() => change({ text: undefined })}>
            Restore original
          </Button>
        </div>
      )}
    </ReviewForm>
  )
}

/** Returns a sentence about the text that the server accepts; undefined for any text. */
function describeExpected(review: ReviewLike): string | undefined {
  if (review.kind === 'TOOL_CALL') return 'JSON, validated against the input schema of the tool'
  if (!isQuestion(review) || isTextSchema(review.answerSchema)) return undefined
  return `JSON Schema of the answer: ${JSON.stringify(review.answerSchema)}`
}

/** Whether an answer by the schema is any text. */
function isTextSchema(schema: unknown): boolean {
  return (
    typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'string'
  )
}

/** The diff; it is deferred, so that typing stays responsive in long texts. */
function Changes({
  original,
  text,
  isCode,
}: {
  readonly original: string
  readonly text: string
  readonly isCode: boolean
}) {
  const shown = useDeferredValue(text)
  return (
    <div className={cx(styles['changes'], isCode && styles['code'])}>
      <p className={styles['label']}>Changes</p>
      {shown === original ? (
        <p className={styles['hint']}>No changes yet</p>
      ) : (
        <DiffView before={original} after={shown} />
      )}
    </div>
  )
}

/**
 * Returns a warning if the original was JSON and the text is not: the output may have to match a
 * schema.
 */
function findLostJson(original: string, text: string): string | undefined {
  const isObject = /^\s*[[{]/.test(original) && findJsonProblem(original) === undefined
  return isObject ? findJsonProblem(text) : undefined
}
