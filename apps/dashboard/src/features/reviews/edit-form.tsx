/** Edits the subject of a review, with a diff. Loaded when first needed. */
import { useDeferredValue } from 'react'

import { useCapabilities } from '../../api/use-capabilities.ts'
import { cx } from '../../lib/cx.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Field } from '../../ui/controls/field.tsx'
import { TextArea } from '../../ui/controls/inputs.tsx'
import { Loading } from '../../ui/feedback/notice.tsx'
import { focusFirstControl } from '../../ui/schema-form/focus-field.ts'
import { checkDraft } from '../../ui/schema-form/form-draft.ts'
import { SchemaForm } from '../../ui/schema-form/schema-form.tsx'
import { DiffView } from '../../ui/show/diff-view.tsx'
import { findJsonProblem, findOriginalText, mustBeJson } from './decision-body.ts'
import { createEditDraft, findEditSchema, formatEdit } from './edit-value.ts'
import { focusOnce, ReviewForm, type ReviewFormProps } from './review-form.tsx'
import { isQuestion, isClientCall, type ReviewLike } from './review-like.ts'
import { labelSubject } from './review-labels.ts'
import styles from './review-panel.module.css'

import type { Problem } from '@tutti/protocol/internal'

/** The editor; the answer to a question has no diff. */
export function EditForm(props: ReviewFormProps) {
  const { review, draft, change, takesFocus } = props
  const { data, isPending } = useCapabilities()
  const original = findOriginalText(review)
  const isAnswer = isQuestion(review) || isClientCall(review)
  const schema = findEditSchema(review, data)
  const form = draft.form ?? createEditDraft(review, schema)
  const initial = isAnswer && schema !== undefined ? formatEdit(schema, form.value) : original
  const text = draft.text ?? initial
  const isSame = text === original && !isAnswer
  const problems =
    schema === undefined ? findTextProblems(review, text) : checkDraft(schema, form).problems
  // The text that was entered meanwhile would not be in the form.
  if (isPending && review.kind === 'TOOL_CALL') return <Loading label="Loading the editor" />
  return (
    <ReviewForm
      {...props}
      draft={{ ...draft, text }}
      mode="EDIT"
      submit={isAnswer ? 'Answer' : 'Approve with changes'}
      isBlocked={problems.length > 0 || isSame}
    >
      <div className={isAnswer ? undefined : styles['split']}>
        {schema === undefined ? (
          <TextEditor {...props} text={text} problems={problems} />
        ) : (
          <div ref={takesFocus ? focusFirstControl : undefined} className={styles['value']}>
            <p className={styles['label']}>{labelEdit(review)}</p>
            <SchemaForm
              schema={schema}
              label={labelEdit(review)}
              draft={form}
              problems={problems}
              onChange={(next) => change({ form: next, text: formatEdit(schema, next.value) })}
            />
          </div>
        )}
        {!isAnswer && <Changes original={original} text={text} isCode={mustBeJson(review)} />}
      </div>
      {!isAnswer && !isSame && (
        <div>
          <Button
            size="s"
            kind="quiet"
            onClick={() => change({ text: undefined, form: undefined })}
          >
            Restore original
          </Button>
        </div>
      )}
    </ReviewForm>
  )
}

/** Edits a text without a known schema. */
function TextEditor({
  review,
  change,
  takesFocus,
  text,
  problems,
}: ReviewFormProps & { readonly text: string; readonly problems: readonly Problem[] }) {
  const warning = mustBeJson(review) ? undefined : findLostJson(findOriginalText(review), text)
  return (
    <Field
      label={labelEdit(review)}
      hint={
        warning ??
        (mustBeJson(review) ? 'JSON, validated against the input schema of the tool' : undefined)
      }
      errors={problems.map(({ message }) => message)}
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
  )
}

function labelEdit(review: ReviewLike): string {
  if (isClientCall(review)) return 'Result of the call'
  return isQuestion(review) ? 'Answer' : labelSubject(review)
}

function findTextProblems(review: ReviewLike, text: string): readonly Problem[] {
  const problem = mustBeJson(review) ? findJsonProblem(text) : undefined
  return problem === undefined ? [] : [{ path: '', message: problem }]
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
