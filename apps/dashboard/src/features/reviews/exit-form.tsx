/** Ends the run with what is done. */
import { ReviewForm, type ReviewFormProps } from './review-form.tsx'
import { EXIT_DOES } from './review-words.ts'

/** Says what ending the run does, before it is done. */
export function ExitForm(props: ReviewFormProps) {
  return (
    <ReviewForm {...props} mode="EXIT_EARLY" submit="End the run" kind="danger">
      <p>{EXIT_DOES[props.review.timing]}</p>
    </ReviewForm>
  )
}
