/** The dialog that switches the model of a run or a task, to a model, a tier or a profile. */
import type { RunState } from '@tutti/protocol'
import { SwitchModelBody } from '@tutti/protocol/internal'
import { useState } from 'react'

import { readFailureText } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { useCapabilities } from '../../api/use-capabilities.ts'
import { Loading, Notice } from '../../ui/feedback/notice.tsx'
import { toast } from '../../ui/feedback/toasts.tsx'
import { FieldAt } from '../../ui/schema-form/field-view.tsx'
import { createFormDraft } from '../../ui/schema-form/form-draft.ts'
import { findCurrentModels, listTargets } from './can-steer.ts'
import { checkCommand } from './command-dialog.tsx'
import { readFormValue, RequestDialog } from '../../api/request-dialog.tsx'
import { listSwitchChoices, parseSwitchTarget, createSwitchRequest } from './switch-target.ts'
import styles from '../../ui/layout/dialog.module.css'

/** Schema of the form: `to` is a model, a tier or a profile. */
const SCHEMA = {
  type: 'object',
  properties: { taskName: SwitchModelBody.properties.taskName, to: { type: 'string' } },
}

/** Fields that show the problems of the commands. */
const ALIASES = { '/model': '/to', '/tier': '/to', '/value': '/to', '/target': '/taskName' }

const NO_TARGET = [{ path: '/to', message: 'choose a model, a tier or a profile' }]

/** The dialog, with the models in use. */
export function SwitchDialog({
  runId,
  state,
  onClose,
}: {
  readonly runId: string
  readonly state: RunState
  readonly onClose: () => void
}) {
  const { client } = useServer()
  const { data, isPending, error } = useCapabilities()
  const form = useState(() => createFormDraft({}))
  const { taskName, to } = readFormValue(form[0])
  const task = typeof taskName === 'string' ? taskName : undefined
  const target = parseSwitchTarget(to)
  return (
    <RequestDialog
      title="Switch model"
      submit="Switch"
      isBlocked={data === undefined}
      schema={SCHEMA}
      fields={['/taskName', '/to']}
      aliases={ALIASES}
      state={form}
      check={() =>
        target === undefined
          ? { ok: false, problems: NO_TARGET }
          : checkCommand(client, { target: runId, ...createSwitchRequest(target, task) })
      }
      onSent={() => {
        const { kind, name } = target ?? { kind: 'model', name: '' }
        toast(`Switched to ${kind === 'model' ? '' : `${kind} `}${name} from the next model call`)
      }}
      onClose={onClose}
    >
      <p className={styles['soft']}>
        The new model is used from the next model call on. Calls in flight are not affected.
      </p>
      {isPending && <Loading label="Loading models" />}
      {error !== null && (
        <Notice tone="failed" title="Failed to load the models">
          {readFailureText(error)}
        </Notice>
      )}
      {data !== undefined && (
        <div className={styles['row']}>
          <FieldAt
            path="/taskName"
            label="Target"
            none="Whole run"
            choices={listTargets(state).tasks.map((name) => ({ value: name, label: name }))}
            hasFocus
          />
          <FieldAt
            path="/to"
            label="Switch to"
            none="Choose…"
            hint={describeCurrent(state, task)}
            choices={listSwitchChoices(data)}
          />
        </div>
      )}
    </RequestDialog>
  )
}

/** Returns the models in use, with the tier and the profile of the run; undefined if unknown. */
function describeCurrent(state: RunState, taskName: string | undefined): string | undefined {
  const { modelTier, profile } = state
  const parts = [
    ...findCurrentModels(state, taskName),
    ...(modelTier === undefined ? [] : [`tier ${modelTier}`]),
    ...(profile === undefined ? [] : [`profile ${profile}`]),
  ]
  return parts.length === 0 ? undefined : `Now: ${parts.join(', ')}`
}
