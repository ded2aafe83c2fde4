/** Gives a run to the reader as a file: its trace in AgentEnsemble's form, or its events. */
import { Download, FileClock, List, Workflow } from 'lucide-react'
import { useMutation } from '@tanstack/react-query'

import { Menu, type MenuItem } from '../../ui/layout/menu.tsx'
import { failureText } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { downloadText } from '../../lib/download.ts'
import styles from './export-trace.module.css'

import type { LoggedRunEvent } from '@tutti/protocol'

import type { FollowedLog } from '../../api/run-log.ts'

/** A button with the files that a run can be had as. */
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

/** Returns the menu items, and why the last export failed. */
function useExports(
  runId: string,
  log: FollowedLog,
): { readonly items: readonly MenuItem[]; readonly failure: string | undefined } {
  const { client } = useServer()
  const name = exportName(log.state.ensemble, runId)
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
          downloadText(`${name}.events.ndjson`, ndjsonOf(log.events), 'application/x-ndjson'),
      },
    ],
    failure: problemOf('trace', trace.error) ?? problemOf('task graph', dag.error),
  }
}

function problemOf(what: string, error: Error | null): string | undefined {
  return error === null ? undefined : `Failed to export the ${what}: ${failureText(error)}`
}

/** `<ensemble>-<runId>`, of characters that every file system takes. */
export function exportName(ensemble: string | undefined, runId: string): string {
  const safe = (ensemble ?? 'run').replaceAll(/[^\p{L}\p{N}_.-]+/gu, '-').replace(/^[.-]+/, '')
  return `${safe === '' ? 'run' : safe.slice(0, 80)}-${runId}`
}

/** One event a line. */
export function ndjsonOf(events: readonly LoggedRunEvent[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('')
}
