/** The fields for reviews: of one task, and of the whole run. */
import { ReviewTimeoutAction } from '@tutti/protocol'

import { ChoiceField } from './choice-field.tsx'
import { withField, type OptionsDraft, type RunReviewDraft, type TaskDraft } from './draft.ts'
import styles from './submit.module.css'
import { NumberField, TextField } from './text-field.tsx'

const REVIEWS = [
  { value: 'required', label: 'Required' },
  { value: 'skip', label: 'Skipped' },
]

type Review = TaskDraft['review']

const SILENCE: Readonly<Record<ReviewTimeoutAction, string>> = {
  CONTINUE: 'Approve it',
  EXIT_EARLY: 'End the run early',
  FAIL: 'Fail the task',
}

/** Whether a task is reviewed; a review with settings of its own, from JSON, stays as it is. */
export function TaskReviewFields({
  path,
  none,
  review,
  beforeReview,
  set,
}: {
  readonly path: string
  /** Label of the empty choice for the review after the task. */
  readonly none: string
  readonly review: Review
  readonly beforeReview: Review
  readonly set: (field: 'review' | 'beforeReview', value: string | undefined) => void
}) {
  return (
    <div className={styles['pair']}>
      <ChoiceField
        path={`${path}/beforeReview`}
        label="Review before it"
        none="As it is"
        choices={REVIEWS}
        value={shown(beforeReview)}
        onChange={(value) => set('beforeReview', value)}
      />
      <ChoiceField
        path={`${path}/review`}
        label="Review after it"
        none={none}
        choices={REVIEWS}
        value={shown(review)}
        onChange={(value) => set('review', value)}
      />
    </div>
  )
}

function shown(review: Review): string | undefined {
  return typeof review === 'object' ? 'With its own settings' : review
}

/** Defaults for the reviews of the run. */
export function RunReviewFields({
  review = {},
  set,
}: {
  readonly review: RunReviewDraft | undefined
  readonly set: (field: 'review', value: OptionsDraft['review']) => void
}) {
  const change = <K extends keyof RunReviewDraft>(field: K, value: RunReviewDraft[K]): void => {
    const next = withField(review, field, value)
    set('review', Object.keys(next).length === 0 ? undefined : next)
  }
  return (
    <div className={styles['pair']}>
      <NumberField
        path="/options/review/timeoutMs"
        label="Time for each review"
        hint="Milliseconds; 0 waits for ever"
        value={review.timeoutMs}
        onChange={(value) => change('timeoutMs', value)}
      />
      <ChoiceField
        path="/options/review/onTimeout"
        label="When nobody decides in time"
        none="As the ensemble says"
        choices={ReviewTimeoutAction.enum.map((value) => ({ value, label: SILENCE[value] }))}
        value={review.onTimeout}
        onChange={(value) => change('onTimeout', value)}
      />
      <TextField
        path="/options/review/requiredRole"
        label="Role of the reviewer"
        hint="Only keys with this role can decide"
        value={review.requiredRole}
        onChange={(value) => change('requiredRole', value)}
      />
    </div>
  )
}
