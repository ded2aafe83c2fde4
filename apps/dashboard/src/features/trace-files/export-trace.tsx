/** Gives a run to the reader as a file: its trace in AgentEnsemble's form, or its events. */
import { Download } from 'lucide-react'

import { Menu } from '../../ui/layout/menu.tsx'
import styles from './export-trace.module.css'
import { useExports } from './use-exports.tsx'

import type { RunLog } from '../../api/run-log.ts'

/** A button with the files that a run can be had as. */
export function ExportTrace({ runId, log }: { readonly runId: string; readonly log: RunLog }) {
  const { items, failure } = useExports(runId, log)
  return (
    <div className={styles['export']}>
      {failure !== undefined && (
        <p role="alert" className={styles['failure']}>
          {failure}
        </p>
      )}
      <Menu label="Export" icon={<Download />} items={items} />
    </div>
  )
}
