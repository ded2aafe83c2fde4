/** The fields of a task that most tasks do not need; folded until one of them is used. */
import { useState } from 'react'

import { TaskReviewFields } from './review-fields.tsx'
import styles from './submit.module.css'
import { NumberField, TextField } from './text-field.tsx'

import type { TaskDraft } from './draft.ts'

const FOLDED = [
  'outputSchema',
  'review',
  'beforeReview',
  'maxIterations',
  'additionalContext',
] as const

/** The fields. */
export function MoreTaskFields({
  path,
  task,
  set,
}: {
  readonly path: string
  readonly task: TaskDraft
  readonly set: <K extends keyof TaskDraft>(field: K, value: TaskDraft[K]) => void
}) {
  const [wasUsed] = useState(() => FOLDED.some((field) => task[field] !== undefined))
  return (
    <details className={styles['fold']} open={wasUsed}>
      <summary>More of this task</summary>
      <div className={styles['fields']}>
        <TextField
          path={`${path}/additionalContext`}
          label="Additional context"
          hint="What its agent is told besides"
          area
          value={task.additionalContext}
          onChange={(value) => set('additionalContext', value)}
        />
        <TextField
          path={`${path}/outputSchema`}
          label="Output schema"
          hint="JSON Schema that the answer must fit"
          area
          isTall
          code
          value={task.outputSchema}
          onChange={(value) => set('outputSchema', value)}
        />
        <TaskReviewFields
          path={path}
          none="As the review policy says"
          review={task.review}
          beforeReview={task.beforeReview}
          set={set}
        />
        <div className={styles['pair']}>
          <NumberField
            path={`${path}/maxIterations`}
            label="Model calls at most"
            placeholder="25"
            value={task.maxIterations}
            onChange={(value) => set('maxIterations', value)}
          />
        </div>
      </div>
    </details>
  )
}
