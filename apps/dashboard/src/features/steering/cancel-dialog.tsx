/** The dialog that cancels a run. */
import { useMutation } from '@tanstack/react-query'
import { decode, type RunState } from '@tutti/protocol'
import { CancelBody, type CancelMode } from '@tutti/protocol/internal'
import { useState } from 'react'

import { useServer } from '../../api/server.ts'
import { formatPlural } from '../../lib/format.ts'
import { ModeChoices, type ModeChoice } from './mode-choices.tsx'
import { SteerDialog } from './steer-dialog.tsx'
import styles from './steer-dialog.module.css'

const MODES: readonly ModeChoice<CancelMode>[] = [
  {
    mode: 'abort',
    name: 'Stop running work',
    does: 'Aborts running model calls, tool calls and calls to other agents. Their results are lost; finished tasks keep their outputs.',
  },
  {
    mode: 'boundary',
    name: 'Let running tasks finish',
    does: 'Running tasks finish and keep their outputs. No further task starts.',
  },
]

/** Asks for the mode and explains each one. */
export function CancelDialog({
  runId,
  state,
  onClose,
}: {
  readonly runId: string
  readonly state: RunState
  readonly onClose: () => void
}) {
  const { client } = useServer()
  // A run whose tasks are allowed to finish can still be stopped.
  const modes = state.cancelMode === 'boundary' ? MODES.slice(0, 1) : MODES
  const [mode, setMode] = useState<CancelMode>('abort')
  const { mutate, isPending, error } = useMutation({
    mutationFn: (how: CancelBody) => client.runs.cancel(runId, how),
    networkMode: 'always',
    onSuccess: onClose,
  })
  const checked = decode(CancelBody, { mode })
  const running = state.tasks.filter(({ status }) => status === 'RUNNING').length
  return (
    <SteerDialog
      title="Cancel run"
      submit="Cancel run"
      kind="danger"
      isBusy={isPending}
      error={error ?? undefined}
      more={checked.ok ? [] : checked.problems.map(({ message }) => message)}
      onClose={onClose}
      onSubmit={() => {
        if (checked.ok) mutate(checked.value)
      }}
    >
      <p className={styles['soft']}>
        {`${running === 0 ? 'No task is' : `${formatPlural(running, 'task')} ${running === 1 ? 'is' : 'are'}`} running. A cancelled run cannot be continued.`}
      </p>
      <ModeChoices label="Cancel mode" modes={modes} chosen={mode} onChoose={setMode} />
    </SteerDialog>
  )
}
