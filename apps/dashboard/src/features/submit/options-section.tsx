/** What most runs do not need: settings, limits, tags, webhooks, an id. Folded until one of them is used. */
import { isJsonObject, RunBudgetBody, RunOptionsBody, RunReviewBody } from '@tutti/protocol'
import { useState } from 'react'

import { BodyField, SchemaFields, type FieldLooks } from './body-fields.tsx'
import { withField, type ChangeDraft, type SubmissionDraft } from './draft.ts'
import { RowFields } from './list-fields.tsx'
import styles from './submit.module.css'

const SETTINGS: FieldLooks = {
  workflow: { label: 'Workflow', none: 'As the tasks ask for' },
  reviewPolicy: { label: 'Review policy', none: 'That of the ensemble' },
  captureMode: { label: 'Trace', none: 'Standard' },
  verbose: { label: 'Verbose log of the server', none: 'As the server is set' },
  maxToolOutputLength: {
    label: 'Tool output for the model',
    hint: 'Characters at most; -1 for all',
  },
  toolLogTruncateLength: {
    label: 'Tool output in the log',
    hint: 'Characters at most; -1 for all',
  },
}

/** Defaults for the reviews of the run. */
const REVIEW: FieldLooks = {
  timeoutMs: { label: 'Time for each review', hint: 'Milliseconds; 0 waits forever' },
  onTimeout: {
    label: 'When nobody decides in time',
    none: 'As the ensemble says',
    choices: [
      { value: 'CONTINUE', label: 'Approve it' },
      { value: 'EXIT_EARLY', label: 'End the run early' },
      { value: 'FAIL', label: 'Fail the task' },
    ],
  },
  requiredRole: { label: 'Role of the reviewer', hint: 'Only keys with this role can decide' },
}

/** What the run may use, in addition to the limits of its ensemble. */
const LIMITS: FieldLooks = {
  maxCostUsd: { label: 'Cost at most', hint: 'US dollars; beyond any limit the run fails' },
  maxTokens: { label: 'Tokens at most', hint: 'Read and written together' },
  maxDurationMs: {
    label: 'Working time at most',
    hint: 'Milliseconds; waiting for people is free',
  },
  maxModelCalls: { label: 'Model calls at most', hint: 'Of all tasks together' },
  maxToolCalls: { label: 'Tool calls at most', hint: 'Of all tasks together' },
}

export function OptionsSection({
  draft,
  change,
}: {
  readonly draft: SubmissionDraft
  readonly change: ChangeDraft
}) {
  const { options, budget, tags, moreInputs, webhooks, runId } = draft
  const [wasUsed] = useState(() =>
    [tags, moreInputs, webhooks, runId, Object.keys(options), Object.keys(budget)].some(
      (part) => part.length > 0,
    ),
  )
  return (
    <details className={styles['options']} open={wasUsed}>
      <summary>Options</summary>
      <div className={styles['fields']}>
        <SettingsFields options={options} budget={budget} change={change} />
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
            area="line"
            isCode
            value={webhooks}
            onChange={(names = '') => change((before) => ({ ...before, webhooks: String(names) }))}
          />
          <BodyField
            path="/runId"
            label="Run id"
            hint="The server chooses one when it is empty"
            value={runId}
            onChange={(id = '') => change((before) => ({ ...before, runId: String(id) }))}
          />
        </div>
      </div>
    </details>
  )
}

function SettingsFields({
  options,
  budget,
  change,
}: Pick<SubmissionDraft, 'options' | 'budget'> & { readonly change: ChangeDraft }) {
  const review = isJsonObject(options['review']) ? options['review'] : {}
  const set = (field: string, value: unknown): void =>
    change((before) => ({ ...before, options: withField(before.options, field, value) }))
  const groups = [
    { schema: RunOptionsBody, path: '/options', looks: SETTINGS, value: options, set },
    {
      schema: RunReviewBody,
      path: '/options/review',
      looks: REVIEW,
      value: review,
      set: (field: string, value: unknown) => set('review', withField(review, field, value)),
    },
    {
      schema: RunBudgetBody,
      path: '/budget',
      looks: LIMITS,
      value: budget,
      set: (field: string, value: unknown) =>
        change((before) => ({ ...before, budget: withField(before.budget, field, value) })),
    },
  ]
  return groups.map((group) => (
    <div key={group.path} className={styles['pair']}>
      <SchemaFields {...group} />
    </div>
  ))
}
