/** Generates the table of `docs/production.md` that says how far one Postgres goes, from the recorded results. */
import { replaceSection, table } from './markdown.ts'

import type { Results } from '../bench/lib/results.ts'

/** Returns the page with the table of the recorded scale test. @throws {Error} when the page has no section for it. */
export function replaceEnvelope(page: string, results: Results): string {
  return replaceSection(page, 'docs/performance.json', envelope(results))
}

function envelope({ machine, areas }: Results): readonly string[] {
  const scale = areas.find(({ area }) => area === 'scale')
  if (scale === undefined) return ['No results are recorded yet.']
  const { cores, processor, memoryGiB, node } = machine
  const claims = scale.claims.map(({ text, measured, isMet }) => [
    text,
    measured,
    isMet ? 'met' : 'NOT met',
  ])
  return [
    `Measured ${scale.date} on ${cores} cores (${processor}), which the clients shared with the server, ${memoryGiB} GiB of memory,`,
    `Node ${node}:`,
    '',
    ...scale.tables.flatMap(({ columns, rows }) => table(columns, rows)),
    '',
    ...table(['goal', 'measured', ''], claims),
  ]
}
