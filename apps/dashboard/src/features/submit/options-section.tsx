/** What most runs do not need: settings, tags, webhooks, an id. Folded until one of them is used. */
import { useState } from 'react'

import { TextArea } from '../../ui/controls/inputs.tsx'
import { BodyField } from './body-field.tsx'
import { withField, type BudgetDraft, type OptionsDraft, type SubmissionDraft } from './draft.ts'
import { RowFields } from './row-fields.tsx'
import { RunReviewFields } from './review-fields.tsx'
import { RunLimits } from './run-limits.tsx'
import { RunSettings } from './run-settings.tsx'
import styles from './submit.module.css'
import { TextField } from './text-field.tsx'

import type { Change } from './sections.ts'

/** The section. */
export function OptionsSection({
  draft,
  change,
}: {
  readonly draft: SubmissionDraft
  readonly change: Change
}) {
  const { options, budget, tags, moreInputs, webhooks, runId } = draft
  const set = <K extends keyof OptionsDraft>(field: K, value: OptionsDraft[K]): void =>
    change((before) => ({ ...before, options: withField(before.options, field, value) }))
  const limit = <K extends keyof BudgetDraft>(field: K, value: BudgetDraft[K]): void =>
    change((before) => ({ ...before, budget: withField(before.budget, field, value) }))
  const [wasUsed] = useState(() =>
    [tags, moreInputs, webhooks, runId, Object.keys(options), Object.keys(budget)].some(
      (part) => part.length > 0,
    ),
  )
  return (
    <details className={styles['options']} open={wasUsed}>
      <summary>Options</summary>
      <div className={styles['fields']}>
        <RunSettings options={options} set={set} />
        <RunReviewFields review={options.review} set={set} />
        <RunLimits budget={budget} set={limit} />
        <RowFields
          path="/tags"
          label="Tags"
          one="tag"
          add="Add a tag"
          hint="To find the run by"
          rows={tags}
          onChange={(rows) => change((before) => ({ ...before, tags: rows }))}
        />
        <RowFields
          path="/inputs"
          label="More inputs"
          one="input"
          add="Add an input"
          hint="Inputs that no task has a variable for"
          rows={moreInputs}
          onChange={(rows) => change((before) => ({ ...before, moreInputs: rows }))}
        />
        <div className={styles['pair']}>
          <BodyField
            path="/webhooks"
            label="Webhooks"
            hint="Names that the operator registered, one a line"
          >
            {(control) => (
              <TextArea
                {...control}
                code
                className={styles['line']}
                rows={1}
                value={webhooks}
                onChange={({ target }) =>
                  change((before) => ({ ...before, webhooks: target.value }))
                }
              />
            )}
          </BodyField>
          <TextField
            path="/runId"
            label="Run id"
            hint="The server chooses one when it is empty"
            value={runId === '' ? undefined : runId}
            onChange={(value) => change((before) => ({ ...before, runId: value ?? '' }))}
          />
        </div>
      </div>
    </details>
  )
}
