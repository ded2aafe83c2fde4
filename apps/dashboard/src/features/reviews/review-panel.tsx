/** One review, to be decided in place. */
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
  reviewTitle,
  TIMING,
  EXIT_DOES,
  REJECT_EFFECT,
  actionWords,
  forbiddenWords,
  roleWords,
  timeoutWords,
  subjectOf,
} from './review-words.ts'
import { useDecision, type Deciding } from './use-decision.ts'
import { ReviewForm, type ReviewFormProps, focusOnce } from './review-form.tsx'
import { type ReviewLike, asksForText } from './review-like.ts'
import styles from './review-panel.module.css'

/** The editor comes with the comparison of texts, which most readers never need. */
const EditForm = lazy(() => import('./edit-form.tsx').then((form) => ({ default: form.EditForm })))

/** A review that waits, or how it was closed, until that is dismissed. */
export const ReviewPanel = memo(function ReviewPanel({
  review,
  onDismiss,
  isFolded = false,
  onFold,
}: {
  readonly review: ReviewLike
  readonly onDismiss: (reviewId: string) => void
  /** Whether the heading alone is shown. @default false */
  readonly isFolded?: boolean
  /** Where several panels are shown; without it a panel cannot be folded. */
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
    TIMING[review.timing],
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
              <span id={id}>{reviewTitle(review)}</span>{' '}
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
            {/* Buttons that move while somebody presses them lose the click, or give it to another. */}
            <Suspense fallback={<Loading label="Loading what is under review" />}>
              <Decision review={review} deciding={deciding} />
            </Suspense>
          </div>
        )}
      </Panel>
    </div>
  )
})

/** What is looked at, and what can be decided about it. */
function Decision({
  review,
  deciding,
}: {
  readonly review: ReviewLike
  readonly deciding: Deciding
}) {
  const [draft, change] = useDraft(review.reviewId)
  /** Forms that were opened here take the focus, and give it back; those that are there already do not. */
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
      {draft.mode !== 'EDIT' && <ReviewSubject review={review} />}
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

/** Says what ending the run does, before it is done. */
function ExitForm(props: ReviewFormProps) {
  return (
    <ReviewForm {...props} mode="EXIT_EARLY" submit="End the run" kind="danger">
      <p>{EXIT_DOES[props.review.timing]}</p>
    </ReviewForm>
  )
}

/** Asks what the agent is to be told. */
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
      <Field label="What should be different" required hint={REJECT_EFFECT[review.timing]}>
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

const FORMS: readonly DraftMode[] = ['EDIT', 'REJECT', 'EXIT_EARLY']

/** The buttons; those with a form open it. */
function ReviewActions({
  review,
  deciding,
  focusOn,
  onOpen,
}: {
  readonly review: ReviewLike
  readonly deciding: Deciding
  /** The form that was left: its button has the focus again. */
  readonly focusOn: DraftMode | undefined
  readonly onOpen: (mode: DraftMode) => void
}) {
  const words = actionWords(review)
  const { isBusy } = deciding
  const forbidden = forbiddenWords(review)
  const isForbidden = forbidden !== undefined
  const id = useId()
  const rest = [
    ...(review.expiresAt === undefined ? [] : [timeoutWords(review)]),
    ...(isForbidden ? [forbidden] : roleWords(review)),
  ]
  return (
    <div className={styles['actions']}>
      <Button
        kind="primary"
        busy={isBusy}
        disabled={isForbidden}
        aria-describedby={isForbidden ? id : undefined}
        onClick={() => deciding.decide({ decision: 'CONTINUE' })}
      >
        {isBusy ? 'Sending…' : words.CONTINUE}
      </Button>
      {FORMS.map((mode) => (
        <Button
          key={mode}
          busy={isBusy}
          disabled={isForbidden}
          aria-describedby={isForbidden ? id : undefined}
          ref={mode === focusOn ? focusOnce : undefined}
          onClick={() => onOpen(mode)}
        >
          {words[mode]}
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
  { value: 'markdown', label: 'Read' },
  { value: 'prose', label: 'Source' },
] as const

/** The output, the tool call or the task that somebody is asked about. */
function ReviewSubject({ review }: { readonly review: ReviewLike }) {
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
            {!asksForText(review) && detail?.tool !== undefined && (
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
