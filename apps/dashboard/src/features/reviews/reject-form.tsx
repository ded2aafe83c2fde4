/** Rejects what is under review. */
import { Field } from '../../ui/controls/field.tsx'
import { TextArea } from '../../ui/controls/inputs.tsx'
import { focusOnce, ReviewForm, type ReviewFormProps } from './review-form.tsx'
import { REJECT_DOES } from './review-words.ts'

/** Asks what the agent is to be told. */
export function RejectForm(props: ReviewFormProps) {
  const { review, draft, change, takesFocus } = props
  return (
    <ReviewForm
      {...props}
      mode="REJECT"
      submit="Reject"
      kind="danger"
      isBlocked={draft.feedback.trim() === ''}
    >
      <Field label="What should be different" required hint={REJECT_DOES[review.timing]}>
        {(control) => (
          <TextArea
            {...control}
            ref={takesFocus ? focusOnce : undefined}
            value={draft.feedback}
            onChange={({ target }) => change({ feedback: target.value })}
          />
        )}
      </Field>
    </ReviewForm>
  )
}
