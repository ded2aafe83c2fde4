/** What a run may use, beside what its ensemble allows it. */
import styles from './submit.module.css'
import { NumberField } from './text-field.tsx'

import type { BudgetDraft } from './draft.ts'

/** Each limit with what it counts. */
const LIMITS = [
  ['maxCostUsd', 'Cost at most', 'US dollars; beyond any limit the run fails'],
  ['maxTokens', 'Tokens at most', 'Read and written together'],
  ['maxDurationMs', 'Working time at most', 'Milliseconds; waiting for people is free'],
  ['maxModelCalls', 'Model calls at most', 'Of all tasks together'],
  ['maxToolCalls', 'Tool calls at most', 'Of all tasks together'],
] as const

/** The fields. */
export function RunLimits({
  budget,
  set,
}: {
  readonly budget: BudgetDraft
  readonly set: <K extends keyof BudgetDraft>(field: K, value: BudgetDraft[K]) => void
}) {
  return (
    <div className={styles['pair']}>
      {LIMITS.map(([name, label, hint]) => (
        <NumberField
          key={name}
          path={`/budget/${name}`}
          label={label}
          hint={hint}
          value={budget[name]}
          onChange={(value) => set(name, value)}
        />
      ))}
    </div>
  )
}
