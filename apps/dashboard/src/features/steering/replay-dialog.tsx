/** The dialog that executes a completed run again over its recorded results. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'

import { linkToRun } from '../../api/links.ts'
import { useServer } from '../../api/server.ts'
import { createRandomKey } from '../../lib/random-key.ts'
import { goTo } from '../../lib/router.ts'
import { ModeChoices, type ModeChoice } from './mode-choices.tsx'
import { SteerDialog } from './steer-dialog.tsx'
import styles from './steer-dialog.module.css'

import type { ReplayMode } from '@tutti/protocol/internal'

const MODES: readonly ModeChoice<ReplayMode>[] = [
  {
    mode: 'frozen',
    name: 'Frozen',
    does: 'Takes everything from the record and makes no call. Fails at the first difference, so it checks whether the current code and prompts still do the same.',
  },
  {
    mode: 'models',
    name: 'Live models',
    does: 'Calls the models, and takes the results of tools and the decisions of reviews from the record. Costs what the model calls cost.',
  },
]

/** Asks for the mode; it opens the replay when it has started. */
export function ReplayDialog({
  runId,
  onClose,
}: {
  readonly runId: string
  readonly onClose: () => void
}) {
  const { client } = useServer()
  const [mode, setMode] = useState<ReplayMode>('frozen')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => client.runs.replay(runId, { mode }, { idempotencyKey: createRandomKey() }),
    networkMode: 'always',
    onSuccess: (replay) => {
      onClose()
      goTo(linkToRun(replay.runId))
    },
  })
  return (
    <SteerDialog
      title="Replay run"
      submit="Start replay"
      isBusy={isPending}
      error={error ?? undefined}
      onClose={onClose}
      onSubmit={() => mutate()}
    >
      <p className={styles['soft']}>
        A replay is a separate run of the current code. It can be compared with this run.
      </p>
      <ModeChoices label="Replay mode" modes={MODES} chosen={mode} onChoose={setMode} />
    </SteerDialog>
  )
}
