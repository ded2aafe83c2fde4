/**
 * Exports a run as a file: its trace in the format of AgentEnsemble, its task graph, or its events.
 */
import { Download, FileClock, List, Workflow } from 'lucide-react'
import { useMutation } from '@tanstack/react-query'

import { Menu, type MenuItem } from '../../ui/layout/menu.tsx'
import { readFailureText } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { downloadText, formatNdjson } from '../../lib/download.ts'
import styles from './export-trace.module.css'

import type { FollowedLog } from '../../api/run-log.ts'

/** A menu with the export formats. */
export function ExportTrace({ runId, log }: { readonly runId: string; readonly log: FollowedLog }) {
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

/** Returns the menu items, and the error of the last export. */
function useExports(
  runId: string,
  log: FollowedLog,
): { readonly items: readonly MenuItem[]; readonly failure: string | undefined } {
  const { client } = useServer()
  const name = createExportName(log.state.ensemble, runId)
  const trace = useMutation({
    mutationFn: () => client.runs.trace(runId),
    onSuccess: (file) => downloadText(`${name}.trace.json`, JSON.stringify(file, undefined, 2)),
  })
  const dag = useMutation({
    mutationFn: () => client.runs.dag(runId),
    onSuccess: (file) => downloadText(`${name}.dag.json`, JSON.stringify(file, undefined, 2)),
  })
  return {
    items: [
      { label: 'Trace (AgentEnsemble)', icon: <FileClock />, onChoose: () => trace.mutate() },
      { label: 'Task graph (AgentEnsemble)', icon: <Workflow />, onChoose: () => dag.mutate() },
      {
        label: 'Events as NDJSON',
        icon: <List />,
        onChoose: () =>
          downloadText(`${name}.events.ndjson`, formatNdjson(log.events), 'application/x-ndjson'),
      },
    ],
    failure:
      describeExportFailure('trace', trace.error) ?? describeExportFailure('task graph', dag.error),
  }
}

function describeExportFailure(what: string, error: Error | null): string | undefined {
  return error === null ? undefined : `Failed to export the ${what}: ${readFailureText(error)}`
}

/** Returns `<ensemble>-<runId>`, with characters that every file system supports. */
export function createExportName(ensemble: string | undefined, runId: string): string {
  const safe = (ensemble ?? 'run').replaceAll(/[^\p{L}\p{N}_.-]+/gu, '-').replace(/^[.-]+/, '')
  return `${safe === '' ? 'run' : safe.slice(0, 80)}-${runId}`
}
