/** Edits the subject of a review, with a diff. Loaded when first needed. */
import { useDeferredValue } from 'react'

import { cx } from '../../lib/cx.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Field } from '../../ui/controls/field.tsx'
import { Checkbox, TextArea } from '../../ui/controls/inputs.tsx'
import { DiffView } from '../../ui/show/diff-view.tsx'
import { Text } from '../../ui/show/text.tsx'
import { findJsonProblem, mustBeJson, findOriginalText } from './decision-body.ts'
import { focusOnce, ReviewForm, type ReviewFormProps } from './review-form.tsx'
import { asksForText, isClientCall } from './review-like.ts'
import { labelSubject } from './review-labels.ts'
import styles from './review-panel.module.css'

/** The editor; the answer to a question has no diff. */
export function EditForm(props: ReviewFormProps) {
  const { review, draft, change, takesFocus } = props
  const original = findOriginalText(review)
  const text = draft.text ?? original
  const isResult = isClientCall(review)
  const isAnswer = asksForText(review) || isResult
  const isJson = mustBeJson(review, draft)
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
      {isAnswer && !isResult && <Text>{review.taskDescription}</Text>}
      <div className={isAnswer ? undefined : styles['split']}>
        <Field
          label={isResult ? 'Result of the call' : isAnswer ? 'Answer' : labelSubject(review)}
          hint={
            warning ?? (isJson ? 'JSON, validated against the input schema of the tool' : undefined)
          }
          errors={problem === undefined ? [] : [problem]}
        >
          {(control) => (
            <TextArea
              {...control}
              ref={takesFocus ? focusOnce : undefined}
              code={isJson || review.timing !== 'BEFORE_EXECUTION'}
              rows={6}
              className={styles['editor'] ?? ''}
              value={text}
              onChange={({ target }) => change({ text: target.value })}
            />
          )}
        </Field>
        {!isAnswer && <Changes original={original} text={text} isCode={isJson} />}
      </div>
      {isAnswer && !isResult && (
        <Checkbox checked={draft.isJson} onChange={() => change({ isJson: !draft.isJson })}>
          Answer is JSON
        </Checkbox>
      )}
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
