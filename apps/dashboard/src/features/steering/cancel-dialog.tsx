/** The dialog that cancels a run: explains each mode. */
import { formatPlural } from '../../lib/format.ts'
import { FieldAt } from '../../ui/schema-form/field-view.tsx'
import { CommandDialog } from './command-dialog.tsx'
import styles from '../../ui/layout/dialog.module.css'

import type { FieldChoice } from '../../ui/schema-form/field-look.ts'
import type { RunState } from '@tutti/protocol'

const MODES: readonly FieldChoice[] = [
  {
    value: 'abort',
    label: 'Stop running work',
    effect:
      'Aborts running model calls, tool calls and calls to other agents. Their results are lost; finished tasks keep their outputs.',
  },
  {
    value: 'boundary',
    label: 'Let running tasks finish',
    effect: 'Running tasks finish and keep their outputs. No further task starts.',
  },
]

export function CancelDialog({
  runId,
  state: { cancelMode, tasks },
  onClose,
}: {
  readonly runId: string
  readonly state: RunState
  readonly onClose: () => void
}) {
  // A run whose tasks are allowed to finish can still be stopped.
  const choices = cancelMode === 'boundary' ? MODES.slice(0, 1) : MODES
  const running = tasks.filter(({ status }) => status === 'RUNNING').length
  return (
    <CommandDialog
      kind="cancel"
      runId={runId}
      title="Cancel run"
      submit="Cancel run"
      initial={{ mode: 'abort' }}
      onClose={onClose}
    >
      <p className={styles['soft']}>
        {`${running === 0 ? 'No task is' : `${formatPlural(running, 'task')} ${running === 1 ? 'is' : 'are'}`} running. A cancelled run cannot be continued.`}
      </p>
      <FieldAt path="/mode" label="Cancel mode" isRadio choices={choices} />
    </CommandDialog>
  )
}
