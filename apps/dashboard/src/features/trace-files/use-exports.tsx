/** The files that a run can be had as, as items of a menu. */
import { useMutation } from '@tanstack/react-query'
import { FileClock, List } from 'lucide-react'

import { failureText } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { downloadText } from '../../lib/download.ts'
import { exportName, ndjsonOf } from './export-file.ts'

import type { RunLog } from '../../api/run-log.ts'
import type { MenuItem } from '../../ui/layout/menu.tsx'

/** Items for a menu, and why the last trace was not given. */
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
  return {
    items: [
      { label: 'Trace (AgentEnsemble)', icon: <FileClock />, onChoose: () => trace.mutate() },
      {
        label: 'Events as NDJSON',
        icon: <List />,
        onChoose: () =>
          downloadText(`${name}.events.ndjson`, ndjsonOf(log.events), 'application/x-ndjson'),
      },
    ],
    failure: trace.isError ? `The trace was not exported: ${failureText(trace.error)}` : undefined,
  }
}
