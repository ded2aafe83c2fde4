/** Decides the selected reviews together. */
import { useState } from 'react'

import { plural } from '../../lib/format.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Field } from '../../ui/controls/field.tsx'
import { Checkbox, TextArea } from '../../ui/controls/inputs.tsx'
import styles from './reviews-page.module.css'

import type { ReviewLike } from './review-like.ts'
import type { DecidingMany } from './use-decide-many.ts'

/** The bar over the list: selects all, and decides what is selected. */
export function DecideBar({
  reviews,
  selected,
  deciding,
  onSelect,
}: {
  /** Those that can be selected. */
  readonly reviews: readonly ReviewLike[]
  readonly selected: readonly ReviewLike[]
  readonly deciding: DecidingMany
  readonly onSelect: (reviewIds: readonly string[]) => void
}) {
  const [feedback, setFeedback] = useState<string>()
  const { isBusy } = deciding
  const count = selected.length
  const all = reviews.map(({ reviewId }) => reviewId)
  const isAll = count > 0 && count === reviews.length
  const decide = async (decision: 'CONTINUE' | 'REJECT'): Promise<void> => {
    const words = feedback?.trim() ?? ''
    await deciding.decide(
      selected,
      decision === 'REJECT' ? { decision, feedback: words } : { decision },
    )
    setFeedback(undefined)
    onSelect([])
  }
  return (
    <div role="group" aria-label="Selected reviews" className={styles['bar']}>
      <Checkbox checked={isAll} onChange={() => onSelect(isAll ? [] : all)}>
        {count === 0 ? 'Select all' : `${plural(count, 'review')} selected`}
      </Checkbox>
      {count > 0 && (
        <>
          <Button
            size="s"
            kind="primary"
            busy={isBusy}
            onClick={() => void decide('CONTINUE')}
          >{`Approve ${count}`}</Button>
          <Button
            size="s"
            busy={isBusy}
            aria-expanded={feedback !== undefined}
            onClick={() => setFeedback(feedback === undefined ? '' : undefined)}
          >{`Reject ${count}…`}</Button>
        </>
      )}
      {count > 0 && feedback !== undefined && (
        <form
          className={styles['feedback']}
          onSubmit={(event) => {
            event.preventDefault()
            if (feedback.trim() !== '' && !isBusy) void decide('REJECT')
          }}
        >
          <Field label="What should be different" required hint="The same words go to every agent.">
            {(control) => (
              <TextArea
                {...control}
                rows={2}
                value={feedback}
                onChange={({ target }) => setFeedback(target.value)}
              />
            )}
          </Field>
          <Button type="submit" kind="danger" busy={isBusy} disabled={feedback.trim() === ''}>
            {`Reject ${count}`}
          </Button>
        </form>
      )}
    </div>
  )
}
