/** The fields of what changes in one task of the ensemble. */
import { ChoiceField } from './choice-field.tsx'
import { TaskReviewFields } from './review-fields.tsx'
import { OverrideTools } from './override-tools.tsx'
import styles from './submit.module.css'
import { NumberField, TextField } from './text-field.tsx'

import type { OverrideDraft } from './draft.ts'
import type { Capabilities } from '@tutti/protocol'

/** The fields; `own` are the tools that the task has. */
export function OverrideFields({
  path,
  own,
  override: given,
  capabilities,
  set,
}: {
  readonly path: string
  readonly own: readonly string[]
  readonly override: OverrideDraft
  readonly capabilities: Capabilities
  readonly set: <K extends keyof OverrideDraft>(field: K, value: OverrideDraft[K]) => void
}) {
  return (
    <>
      <TextField
        path={`${path}/description`}
        label="Description"
        hint="In place of the one above"
        area
        value={given.description}
        onChange={(value) => set('description', value)}
      />
      <TextField
        path={`${path}/expectedOutput`}
        label="Expected output"
        area
        value={given.expectedOutput}
        onChange={(value) => set('expectedOutput', value)}
      />
      <TextField
        path={`${path}/additionalContext`}
        label="Additional context"
        hint="What its agent is told besides"
        area
        value={given.additionalContext}
        onChange={(value) => set('additionalContext', value)}
      />
      <div className={styles['pair']}>
        <ChoiceField
          path={`${path}/model`}
          label="Model"
          none="As it is"
          choices={capabilities.models.map(({ alias, provider }) => ({
            value: alias,
            label: `${alias} (${provider})`,
          }))}
          value={given.model}
          onChange={(value) => set('model', value)}
        />
        <NumberField
          path={`${path}/maxIterations`}
          label="Model calls at most"
          placeholder="As it is"
          value={given.maxIterations}
          onChange={(value) => set('maxIterations', value)}
        />
      </div>
      <TaskReviewFields
        path={path}
        none="As it is"
        review={given.review}
        beforeReview={given.beforeReview}
        set={set}
      />
      <OverrideTools path={path} own={own} override={given} known={capabilities.tools} set={set} />
    </>
  )
}
