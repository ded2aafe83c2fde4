/** The menu items that export a run as a file. */
import { useMutation } from '@tanstack/react-query'
import { FileClock, List, Workflow } from 'lucide-react'

import { failureText } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { downloadText } from '../../lib/download.ts'
import { exportName, ndjsonOf } from './export-file.ts'

import type { RunLog } from '../../api/run-log.ts'
import type { MenuItem } from '../../ui/layout/menu.tsx'

/** Returns the menu items, and why the last export failed. */
export function useExports(
  runId: string,
  log: RunLog,
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
