/** Pure: the ensembles that a request has as tasks. */
import type { RequestedRun } from './run-record.ts'

/** Returns the names of the ensembles that a request has as tasks, each once. */
export function listNestedEnsembles(request: RequestedRun | undefined): readonly string[] {
  return [...new Set((request?.tasks ?? []).flatMap(({ ensemble }) => ensemble ?? []))]
}
