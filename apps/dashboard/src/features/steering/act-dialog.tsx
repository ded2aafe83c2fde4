/** The dialogs of the steering actions. */
import { CancelDialog } from './cancel-dialog.tsx'
import { CommandDialog } from './command-dialog.tsx'
import { InjectDialog } from './inject-dialog.tsx'
import { NO_DIRECTIVE } from './inject-body.ts'
import { ReplayDialog } from './replay-dialog.tsx'
import { SwitchDialog } from './switch-dialog.tsx'

import type { FormDraft } from '../../ui/schema-form/form-draft.ts'
import type { RunState } from '@tutti/protocol'
import type { RunCommandKind } from '@tutti/protocol/internal'

/** A command, or a replay. */
export type SteeringAction = RunCommandKind | 'replay'

/** The dialog of an action: that of its kind, or one with the fields of the command. */
export function ActDialog({
  act,
  form: [directive = NO_DIRECTIVE, change],
  ...dialog
}: {
  readonly act: SteeringAction
  readonly runId: string
  readonly state: RunState
  readonly onClose: () => void
  /** The draft of a directive, if there is one. */
  readonly form: readonly [FormDraft | undefined, (draft: FormDraft) => void]
}) {
  switch (act) {
    case 'inject':
      return <InjectDialog {...dialog} form={[directive, change]} />
    case 'switch_model':
      return <SwitchDialog {...dialog} />
    case 'cancel':
      return <CancelDialog {...dialog} />
    case 'replay':
      return <ReplayDialog runId={dialog.runId} onClose={dialog.onClose} />
    default:
      return <CommandDialog kind={act} runId={dialog.runId} onClose={dialog.onClose} />
  }
}
