/** What can be done with a run as a whole beside what stands at the head of the page. */
import { RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'

import { isTerminalRunStatus, type RunState } from '@tutti/protocol'

import { submitHref } from '../../api/links.ts'
import { useMissingScope } from '../../api/use-identity.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import { DeleteRun } from './delete-run.tsx'
import styles from './run-actions.module.css'

/** The actions; a run that has ended has `Run again` at the head of the page, and only such a one can be deleted. */
export function RunActions({ runId, state }: { readonly runId: string; readonly state: RunState }) {
  const [isAsking, setAsking] = useState(false)
  const missing = useMissingScope('runs:control')
  return (
    <div role="group" aria-label="Actions" className={styles['actions']}>
      {isTerminalRunStatus(state.status) ? (
        <Button
          kind="danger"
          icon={<Trash2 />}
          disabled={missing !== undefined}
          title={missing}
          onClick={() => setAsking(true)}
        >
          Delete run…
        </Button>
      ) : (
        <>
          <LinkButton href={submitHref(runId)} icon={<RotateCcw />}>
            Run again…
          </LinkButton>
          <span className={styles['soft']}>It can be deleted when it has ended.</span>
        </>
      )}
      {isAsking && <DeleteRun runId={runId} onClose={() => setAsking(false)} />}
    </div>
  )
}
