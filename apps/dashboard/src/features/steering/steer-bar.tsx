/** The steering actions of a run: send a directive, switch the model, cancel. */
import { History, ListRestart, MessageSquarePlus, Repeat2, Square } from 'lucide-react'
import { useId, useState } from 'react'

import { linkToSubmit } from '../../api/links.ts'
import { useMissingScope } from '../../api/use-identity.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import { Marked } from '../../ui/show/mark.tsx'
import { restrictToScope, findSteerable } from './can-steer.ts'
import { CancelDialog } from './cancel-dialog.tsx'
import { InjectDialog } from './inject-dialog.tsx'
import { NO_DIRECTIVE } from './inject-form.ts'
import { ReplayDialog } from './replay-dialog.tsx'
import { SwitchDialog } from './switch-dialog.tsx'
import styles from './steer-bar.module.css'

import type { RunState } from '@tutti/protocol'

type Act = 'direct' | 'switchModel' | 'cancel' | 'replay'

const ACTS = [
  { act: 'direct', label: 'Direct…', icon: <MessageSquarePlus /> },
  { act: 'switchModel', label: 'Switch model…', icon: <Repeat2 /> },
  { act: 'cancel', label: 'Cancel…', icon: <Square /> },
] as const

/** The actions of an active run; an ended run can be run again. */
export function SteerBar({ runId, state }: { readonly runId: string; readonly state: RunState }) {
  const [open, setOpen] = useState<Act>()
  /**
   * The draft of a directive. It survives closing the dialog, so that the reader can look at the
   * run first.
   */
  const [directive, setDirective] = useState(NO_DIRECTIVE)
  const id = useId()
  const missing = useMissingScope('runs:control')
  const missingToSubmit = useMissingScope('runs:write')
  const can = restrictToScope(findSteerable(state), missing)
  const close = (): void => setOpen(undefined)
  const dialog = { runId, state, onClose: close }
  return (
    <div className={styles['bar']} role="group" aria-label="Steering">
      <p role="status" id={id} className={styles['ending']}>
        {can.ending !== undefined && <Marked kind="stopping">{can.ending}</Marked>}
      </p>
      {can.isOver
        ? missingToSubmit === undefined && (
            <>
              {/* The results of a replay are recorded in the run that it replays. */}
              {state.status === 'COMPLETED' && state.parent?.replay === undefined && (
                <Button size="s" icon={<History />} onClick={() => setOpen('replay')}>
                  Replay…
                </Button>
              )}
              <LinkButton href={linkToSubmit(runId)} size="s" icon={<ListRestart />}>
                Run again
              </LinkButton>
            </>
          )
        : ACTS.map(({ act, label, icon }) => (
            <Button
              key={act}
              size="s"
              icon={icon}
              kind={act === 'cancel' ? 'danger' : 'plain'}
              disabled={can[act] !== undefined}
              title={can[act]}
              aria-describedby={can[act] === undefined ? undefined : id}
              onClick={() => setOpen(act)}
            >
              {label}
            </Button>
          ))}
      {/* The dialog stays open if the run ends meanwhile; sending then reports it. */}
      {open === 'direct' && <InjectDialog {...dialog} form={directive} onForm={setDirective} />}
      {open === 'switchModel' && <SwitchDialog {...dialog} />}
      {open === 'cancel' && <CancelDialog {...dialog} />}
      {open === 'replay' && <ReplayDialog runId={runId} onClose={close} />}
    </div>
  )
}
