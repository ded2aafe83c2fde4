/** Cancels a run. */
import { useMutation } from '@tanstack/react-query'
import { decode, CancelBody, type CancelMode, type RunState } from '@tutti/protocol'
import { useState } from 'react'

import { useServer } from '../../api/server.ts'
import { plural } from '../../lib/format.ts'
import { SteerDialog } from './steer-dialog.tsx'
import styles from './steer-dialog.module.css'

const MODES: readonly {
  readonly mode: CancelMode
  readonly name: string
  readonly does: string
}[] = [
  {
    mode: 'abort',
    name: 'Stop the work in flight',
    does: 'Model calls, tools and other agents at work are aborted. What they were about to give is lost; outputs of finished tasks are kept.',
  },
  {
    mode: 'boundary',
    name: 'Let running tasks finish',
    does: 'Tasks at work go on to their end and keep their outputs. No other task begins.',
  },
]

/** Asks how, and says what each way does. */
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
  // A run that is let finish can still be stopped.
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
      title="Cancel the run"
      submit="Cancel the run"
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
        {`${running === 0 ? 'No task is' : `${plural(running, 'task')} ${running === 1 ? 'is' : 'are'}`} at work. A cancelled run cannot go on.`}
      </p>
      <fieldset className={styles['choices']} aria-label="How">
        {modes.map(({ mode: one, name, does }) => (
          <label key={one} className={styles['choice']}>
            <input
              type="radio"
              name="mode"
              value={one}
              data-autofocus={one === mode ? true : undefined}
              checked={one === mode}
              onChange={() => setMode(one)}
            />
            <strong>{name}</strong>
            <span>{does}</span>
          </label>
        ))}
      </fieldset>
    </SteerDialog>
  )
}
