/** The dialog that executes a completed run again over its recorded results. */
import { decode, ReplayRunBody } from '@tutti/protocol'

import { linkToRun } from '../../api/links.ts'
import { useServer } from '../../api/server.ts'
import { createRandomKey } from '../../lib/random-key.ts'
import { goTo } from '../../lib/router.ts'
import { FieldAt } from '../../ui/schema-form/field-view.tsx'
import { RequestDialog } from '../../api/request-dialog.tsx'
import styles from '../../ui/layout/dialog.module.css'

import type { FieldChoice } from '../../ui/schema-form/field-look.ts'

const MODES: readonly FieldChoice[] = [
  {
    value: 'frozen',
    label: 'Frozen',
    effect:
      'Takes everything from the record and makes no call. Fails at the first difference, so it checks whether the current code and prompts still do the same.',
  },
  {
    value: 'models',
    label: 'Live models',
    effect:
      'Calls the models, and takes the results of tools and the decisions of reviews from the record. Costs what the model calls cost.',
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
  return (
    <RequestDialog
      title="Replay run"
      submit="Start replay"
      schema={ReplayRunBody}
      fields={['/mode']}
      initial={{ mode: 'frozen' }}
      check={(value) => {
        const body = decode(ReplayRunBody, value)
        if (!body.ok) return body
        return {
          ok: true,
          async send() {
            const idempotencyKey = createRandomKey()
            const replay = await client.runs.replay(runId, body.value, { idempotencyKey })
            goTo(linkToRun(replay.runId))
          },
        }
      }}
      onClose={onClose}
    >
      <p className={styles['soft']}>
        A replay is a separate run of the current code. It can be compared with this run.
      </p>
      <FieldAt path="/mode" label="Replay mode" isRadio choices={MODES} />
    </RequestDialog>
  )
}
