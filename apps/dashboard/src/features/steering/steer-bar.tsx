/** The steering actions of a run: the commands of the protocol that have a label, and a replay. */
import { commandEntry, RUN_COMMAND_KINDS, type RunCommandKind } from '@tutti/protocol/internal'
import { History, ListRestart, MessageSquarePlus, Repeat2, Square, Wand2 } from 'lucide-react'
import { lazy, Suspense, useId, useState, type ReactNode } from 'react'

import { linkToSubmit } from '../../api/links.ts'
import { useMissingScope } from '../../api/use-identity.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import { Marked } from '../../ui/show/mark.tsx'
import { findSteerable } from './can-steer.ts'
import styles from './steer-bar.module.css'

import type { FormDraft } from '../../ui/schema-form/form-draft.ts'
import type { RunState } from '@tutti/protocol'
import type { SteeringAction } from './act-dialog.tsx'

/** Loaded when first needed, because it contains the forms. */
const ActDialog = lazy(() => import('./act-dialog.tsx').then((one) => ({ default: one.ActDialog })))

/** Icons of commands. */
const ICONS: Readonly<Partial<Record<RunCommandKind, ReactNode>>> = {
  inject: <MessageSquarePlus />,
  switch_model: <Repeat2 />,
  cancel: <Square />,
}

/** The actions of an active run; an ended run can be run again. */
export function SteerBar({ runId, state }: { readonly runId: string; readonly state: RunState }) {
  const [open, setOpen] = useState<SteeringAction>()
  /**
   * The draft of a directive. It survives closing the dialog, so that the reader can look at the
   * run first.
   */
  const directive = useState<FormDraft>()
  const id = useId()
  const missing = useMissingScope('runs:control')
  const missingToSubmit = useMissingScope('runs:write')
  const can = findSteerable(state)
  const blocked = can.blocked ?? missing
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
        : RUN_COMMAND_KINDS.filter((kind) => commandEntry(kind).label !== undefined).map((kind) => (
            <Button
              key={kind}
              size="s"
              icon={ICONS[kind] ?? <Wand2 />}
              kind={kind === 'cancel' ? 'danger' : 'plain'}
              disabled={blocked !== undefined}
              title={blocked}
              aria-describedby={blocked === undefined ? undefined : id}
              onClick={() => setOpen(kind)}
            >
              {commandEntry(kind).label}
            </Button>
          ))}
      {/* The dialog stays open if the run ends meanwhile; sending then reports it. */}
      <Suspense>
        {open !== undefined && <ActDialog act={open} {...dialog} form={directive} />}
      </Suspense>
    </div>
  )
}
