/** The dialog that sends a directive to the agents of a run. */
import { toast } from '../../ui/feedback/toasts.tsx'
import { FieldAt } from '../../ui/schema-form/field-view.tsx'
import { listTargets } from './can-steer.ts'
import { CommandDialog } from './command-dialog.tsx'
import { readFormValue, type DraftState } from '../../api/request-dialog.tsx'
import { INJECT_FORM, NO_DIRECTIVE, toInjectBody } from './inject-body.ts'
import styles from '../../ui/layout/dialog.module.css'

import type { FieldChoice } from '../../ui/schema-form/field-look.ts'
import type { RunState } from '@tutti/protocol'

const TIMES: readonly FieldChoice[] = [
  { value: 'PT5M', label: 'For 5 minutes' },
  { value: 'PT1H', label: 'For 1 hour' },
  { value: 'custom', label: 'Custom…' },
]

/** The dialog; its form belongs to the caller, so that it survives closing. */
export function InjectDialog({
  runId,
  state,
  form,
  onClose,
}: {
  readonly runId: string
  readonly state: RunState
  readonly form: DraftState
  readonly onClose: () => void
}) {
  const [draft, change] = form
  const { target, valid } = readFormValue(draft)
  return (
    <CommandDialog
      kind="inject"
      runId={runId}
      title="Send a directive"
      submit="Send directive"
      schema={INJECT_FORM}
      fields={['/content', '/target', '/priority', '/ttl']}
      state={form}
      toBody={toInjectBody}
      onSent={() => {
        change(NO_DIRECTIVE)
        toast('Directive sent; the Steering tab shows when it is delivered')
      }}
      onClose={onClose}
    >
      <FieldAt
        path="/content"
        label="Directive"
        hint="Agents see it at their next model call. Calls in flight are not interrupted."
        rows={3}
        hasFocus
      />
      <div className={styles['row']}>
        <FieldAt
          path="/target"
          none="Whole run"
          hint={
            state.tasks.length === 0 ? 'Tasks are available once the run has started.' : undefined
          }
          choices={listTargetChoices(state, target)}
        />
        <FieldAt path="/priority" none={null} />
        <FieldAt path="/valid" none="Until the run ends" choices={TIMES} />
        {valid === 'custom' && (
          <FieldAt path="/ttl" label="Duration" hint="ISO 8601, such as PT90S or PT2H30M" />
        )}
      </div>
    </CommandDialog>
  )
}

/** Returns possible targets; a task that has ended meanwhile stays selected, and the server reports it. */
function listTargetChoices(state: RunState, target: unknown): readonly FieldChoice[] {
  const { tasks, roles } = listTargets(state)
  const isGone = typeof target === 'string' && ![...tasks, ...roles].includes(target)
  return [
    ...(isGone ? [{ value: target, label: `${target} (ended)` }] : []),
    ...tasks.map((name) => ({ value: name, label: name, group: 'Tasks' })),
    ...roles.map((name) => ({ value: name, label: name, group: 'Roles' })),
  ]
}
