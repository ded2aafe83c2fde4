/** Shows one review and its decision forms. */
import { lazy, memo, Suspense, useId, useState } from 'react'

import { cx } from '../../lib/cx.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Loading } from '../../ui/feedback/notice.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { Countdown } from '../../ui/show/time.tsx'
import { Field } from '../../ui/controls/field.tsx'
import { TextArea } from '../../ui/controls/inputs.tsx'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { JsonText, JsonView } from '../../ui/show/json-view.tsx'
import { CopyButton, Text } from '../../ui/show/text.tsx'
import { useDecidedHere, useDraft, type DraftMode } from './drafts.ts'
import { ReviewClosed } from './review-closed.tsx'
import { ReviewFailure } from './review-failure.tsx'
import {
  formatReviewLabel,
  EXIT_EFFECT,
  REJECT_EFFECT,
  labelActions,
  listActions,
  describeForbidden,
  describeRole,
  describeTimeout,
  describeTiming,
  labelSubject,
} from './review-labels.ts'
import { useDecision, type Deciding } from './use-decision.ts'
import { ReviewForm, type ReviewFormProps, focusOnce } from './review-form.tsx'
import { type ReviewLike, isQuestion, isClientCall } from './review-like.ts'
import styles from './review-panel.module.css'

/** Loaded when first needed, because it contains the diff library. */
const EditForm = lazy(() => import('./edit-form.tsx').then((form) => ({ default: form.EditForm })))

/** An open review, or its outcome until that is dismissed. */
export const ReviewPanel = memo(function ReviewPanel({
  review,
  onDismiss,
  isFolded = false,
  onFold,
}: {
  readonly review: ReviewLike
  readonly onDismiss: (reviewId: string) => void
  /** Whether only the heading is shown. @default false */
  readonly isFolded?: boolean
  /** Called to fold or unfold the panel; undefined if it cannot be folded. */
  readonly onFold?: ((reviewId: string, isFolded: boolean) => void) | undefined
}) {
  const deciding = useDecision(review)
  const by = useDecidedHere().get(review.reviewId) ?? 'other'
  const id = useId()
  if (review.end !== undefined || deciding.isTooLate) {
    return <ReviewClosed review={review} isKnownOther={by === 'other'} onDismiss={onDismiss} />
  }
  const { detail } = review
  const facts = [
    ...(detail === undefined ? [] : [detail.agentRole]),
    describeTiming(review),
    ...(detail === undefined || detail.attempt < 2 ? [] : [`attempt ${detail.attempt}`]),
  ]
  return (
    <div
      role="region"
      aria-labelledby={id}
      className={cx(styles['review'], isFolded && styles['folded'])}
    >
      <Panel
        tone="held"
        title={
          <span className={styles['title']}>
            <Mark kind="held" />
            <span>
              <span id={id}>{formatReviewLabel(review)}</span>{' '}
              <span className={styles['facts']}>{facts.join(' · ')}</span>
            </span>
          </span>
        }
        actions={
          <>
            <span className={styles['left']}>
              {review.expiresAt === undefined ? (
                'no time limit'
              ) : (
                <Countdown until={review.expiresAt} />
              )}
            </span>
            {onFold !== undefined && (
              <Button
                size="s"
                kind="quiet"
                aria-expanded={!isFolded}
                aria-describedby={id}
                onClick={() => onFold(review.reviewId, !isFolded)}
              >
                {isFolded ? 'Show' : 'Hide'}
              </Button>
            )}
          </>
        }
        flush={isFolded}
      >
        {!isFolded && (
          <div className={styles['body']}>
            {review.prompt !== undefined && <p className={styles['prompt']}>{review.prompt}</p>}
            {/* Suspend the subject and the buttons together: buttons that move during a click lose it. */}
            <Suspense fallback={<Loading label="Loading review" />}>
              <Decision review={review} deciding={deciding} />
            </Suspense>
          </div>
        )}
      </Panel>
    </div>
  )
})

/** The subject of a review and the decision forms. */
function Decision({
  review,
  deciding,
}: {
  readonly review: ReviewLike
  readonly deciding: Deciding
}) {
  const [draft, change] = useDraft(review.reviewId)
  /** The form opened here: it takes and returns the focus, unlike forms that were already open. */
  const [turned, setTurned] = useState<DraftMode>()
  const open = (mode: DraftMode): void => {
    setTurned(mode)
    change({ mode })
  }
  const form = {
    review,
    draft,
    change,
    deciding,
    takesFocus: turned !== undefined,
    onBack: () => change({ mode: undefined }),
  }
  return (
    <>
      {draft.mode !== 'EDIT' && !isQuestion(review) && <ReviewSubject review={review} />}
      {deciding.error !== undefined && <ReviewFailure error={deciding.error} />}
      {draft.mode === undefined && (
        <ReviewActions review={review} deciding={deciding} focusOn={turned} onOpen={open} />
      )}
      {draft.mode === 'EDIT' && (
        <Suspense fallback={<Loading label="Loading the editor" />}>
          <EditForm {...form} />
        </Suspense>
      )}
      {draft.mode === 'REJECT' && <RejectForm {...form} />}
      {draft.mode === 'EXIT_EARLY' && <ExitForm {...form} />}
    </>
  )
}

/** Explains what ending the run does, before it is done. */
function ExitForm(props: ReviewFormProps) {
  return (
    <ReviewForm {...props} mode="EXIT_EARLY" submit="End the run" kind="danger">
      <p>{EXIT_EFFECT[props.review.kind]}</p>
    </ReviewForm>
  )
}

/** Asks for feedback to the agent. */
function RejectForm(props: ReviewFormProps) {
  const { review, draft, change, takesFocus } = props
  return (
    <ReviewForm
      {...props}
      mode="REJECT"
      submit="Reject"
      kind="danger"
      isBlocked={draft.feedback.trim() === ''}
    >
      <Field label="Feedback" required hint={REJECT_EFFECT[review.kind]}>
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

/** The decision buttons; some open a form. */
function ReviewActions({
  review,
  deciding,
  focusOn,
  onOpen,
}: {
  readonly review: ReviewLike
  readonly deciding: Deciding
  /** Form that was just closed; its button gets the focus. */
  readonly focusOn: DraftMode | undefined
  readonly onOpen: (mode: DraftMode) => void
}) {
  const labels = labelActions(review)
  const { isBusy } = deciding
  const forbidden = describeForbidden(review)
  const isForbidden = forbidden !== undefined
  const id = useId()
  const rest = [
    ...(review.expiresAt === undefined ? [] : [describeTimeout(review)]),
    ...(isForbidden ? [forbidden] : describeRole(review)),
  ]
  return (
    <div className={styles['actions']}>
      {listActions(review).map((action, index) => (
        <Button
          key={action}
          kind={index === 0 && !isClientCall(review) ? 'primary' : 'plain'}
          busy={isBusy}
          disabled={isForbidden}
          aria-describedby={isForbidden ? id : undefined}
          ref={action === focusOn ? focusOnce : undefined}
          onClick={() => {
            if (action === 'CONTINUE') deciding.decide({ decision: action })
            else onOpen(action)
          }}
        >
          {isBusy && action === 'CONTINUE' ? 'Sending…' : labels[action]}
        </Button>
      ))}
      {rest.length > 0 && (
        <p id={id} className={styles['hint']}>
          {rest.join(' ')}
        </p>
      )}
    </div>
  )
}

const VIEWS = [
  { value: 'markdown', label: 'Rendered' },
  { value: 'prose', label: 'Source' },
] as const

/** The subject of a review: a task, a tool call, or an output. */
function ReviewSubject({ review }: { readonly review: ReviewLike }) {
  const { timing, taskOutput, taskDescription, detail } = review
  const label = labelSubject(review)
  const [view, setView] = useState<'markdown' | 'prose'>('markdown')
  const isText = timing === 'AFTER_EXECUTION' && !/^\s*[[{]/.test(taskOutput)
  return (
    <div className={styles['subject']}>
      <div className={styles['head']}>
        <p className={styles['label']}>{label}</p>
        {isText && (
          <Segmented label="Output format" value={view} segments={VIEWS} onChange={setView} />
        )}
        {isText && <CopyButton text={taskOutput} label="Copy output" />}
      </div>
      {/* Scrollable regions need to be reachable by keyboard. */}
      <div role="group" aria-label={label} tabIndex={0} className={styles['scroll']}>
        {isText && (
          <Text kind={view} isAwaited>
            {taskOutput === '' ? 'The output is empty.' : taskOutput}
          </Text>
        )}
        {timing === 'AFTER_EXECUTION' && !isText && <JsonText text={taskOutput} label="output" />}
        {timing === 'BEFORE_EXECUTION' && <Text>{taskDescription}</Text>}
        {timing === 'DURING_EXECUTION' && (
          <>
            {hasOwnDescription(review) && <Text>{taskDescription}</Text>}
            {detail?.tool !== undefined && (
              <JsonView value={detail.tool.input} label="input" depth={3} />
            )}
          </>
        )}
      </div>
    </div>
  )
}

/**
 * Whether a tool call has a description other than the generated one, which repeats its name and
 * input.
 */
function hasOwnDescription({ taskDescription, detail }: ReviewLike): boolean {
  const name = detail?.tool?.name
  return name === undefined || !taskDescription.startsWith(`Call tool: ${name}\nInput: `)
}
