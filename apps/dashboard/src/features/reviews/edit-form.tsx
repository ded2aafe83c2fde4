/** Changes what is under review, with the changes beside it. Loaded when it is first needed. */
import { useDeferredValue } from 'react'

import { cx } from '../../lib/cx.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Field } from '../../ui/controls/field.tsx'
import { Checkbox, TextArea } from '../../ui/controls/inputs.tsx'
import { DiffView } from '../../ui/show/diff-view.tsx'
import { Text } from '../../ui/show/text.tsx'
import { jsonProblem, mustBeJson, originalOf } from './decision-body.ts'
import { focusOnce, ReviewForm, type ReviewFormProps } from './review-form.tsx'
import { asksForText } from './review-like.ts'
import { subjectOf } from './review-words.ts'
import styles from './review-panel.module.css'

/** The editor; a question has an answer and nothing to compare it with. */
export function EditForm(props: ReviewFormProps) {
  const { review, draft, change, takesFocus } = props
  const original = originalOf(review)
  const text = draft.text ?? original
  const isAnswer = asksForText(review)
  const isJson = mustBeJson(review, draft)
  const problem = isJson ? jsonProblem(text) : undefined
  const warning = isJson ? undefined : lostJson(original, text)
  const isSame = text === original && !isAnswer
  return (
    <ReviewForm
      {...props}
      mode="EDIT"
      submit={isAnswer ? 'Answer' : 'Approve with changes'}
      isBlocked={problem !== undefined || isSame}
    >
      {isAnswer && <Text>{review.taskDescription}</Text>}
      <div className={isAnswer ? undefined : styles['split']}>
        <Field
          label={isAnswer ? 'Answer' : subjectOf(review)}
          hint={
            warning ?? (isJson ? 'JSON. It is checked against the input of the tool.' : undefined)
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
      {isAnswer && (
        <Checkbox checked={draft.isJson} onChange={() => change({ isJson: !draft.isJson })}>
          The answer is JSON
        </Checkbox>
      )}
      {!isAnswer && !isSame && (
        <div>
          <Button size="s" kind="quiet" onClick={() => change({ text: undefined })}>
            Take the original again
          </Button>
        </div>
      )}
    </ReviewForm>
  )
}

/** Long texts are compared after the letter is there. */
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
        <p className={styles['hint']}>None yet. They are shown here while you type.</p>
      ) : (
        <DiffView before={original} after={shown} />
      )}
    </div>
  )
}

/** An output that was JSON and is not any more may be refused: its task may have a schema. */
function lostJson(original: string, text: string): string | undefined {
  const isObject = /^\s*[[{]/.test(original) && jsonProblem(original) === undefined
  return isObject ? jsonProblem(text) : undefined
}
