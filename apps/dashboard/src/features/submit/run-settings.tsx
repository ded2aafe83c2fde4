/** The settings of a run. */
import { CaptureMode, ReviewPolicy, Workflow } from '@tutti/protocol'

import { ChoiceField } from './choice-field.tsx'
import styles from './submit.module.css'
import { NumberField } from './text-field.tsx'

import type { OptionsDraft } from './draft.ts'

/** Words of the wire as people read them: `AFTER_EVERY_TASK` → `After every task`. */
function choicesOf(words: readonly string[]) {
  return words.map((value) => {
    const label = value.replaceAll('_', ' ').toLowerCase()
    return { value, label: label.charAt(0).toUpperCase() + label.slice(1) }
  })
}

const YES_OR_NO = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
]

/** The fields. */
export function RunSettings({
  options,
  set,
}: {
  readonly options: OptionsDraft
  readonly set: <K extends keyof OptionsDraft>(field: K, value: OptionsDraft[K]) => void
}) {
  return (
    <div className={styles['pair']}>
      <ChoiceField
        path="/options/workflow"
        label="Workflow"
        none="As the tasks ask for"
        choices={choicesOf(Workflow.enum)}
        value={options.workflow}
        onChange={(value) => set('workflow', value)}
      />
      <ChoiceField
        path="/options/reviewPolicy"
        label="Review policy"
        none="That of the ensemble"
        choices={choicesOf(ReviewPolicy.enum)}
        value={options.reviewPolicy}
        onChange={(value) => set('reviewPolicy', value)}
      />
      <ChoiceField
        path="/options/captureMode"
        label="Trace"
        none="Standard"
        choices={choicesOf(CaptureMode.enum)}
        value={options.captureMode}
        onChange={(value) => set('captureMode', value)}
      />
      <ChoiceField
        path="/options/verbose"
        label="Verbose log of the server"
        none="As the server is set"
        choices={YES_OR_NO}
        value={options.verbose === undefined ? undefined : String(options.verbose)}
        onChange={(value) => set('verbose', value === undefined ? undefined : value === 'true')}
      />
      <NumberField
        path="/options/maxToolOutputLength"
        label="Tool output for the model"
        hint="Characters at most; -1 for all"
        value={options.maxToolOutputLength}
        onChange={(value) => set('maxToolOutputLength', value)}
      />
      <NumberField
        path="/options/toolLogTruncateLength"
        label="Tool output in the log"
        hint="Characters at most; -1 for all"
        value={options.toolLogTruncateLength}
        onChange={(value) => set('toolLogTruncateLength', value)}
      />
    </div>
  )
}
