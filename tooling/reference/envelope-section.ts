/** Generates the table of `docs/production.md` that says how far one Postgres goes, from the recorded results. */
import { table } from './markdown.ts'

import type { Results } from '../bench/lib/results.ts'

const BEGIN = '<!-- Written by "npm run gen" from docs/performance.json; do not edit. -->'
const END = '<!-- End of the written part. -->'

/** Returns the page with the table of the recorded scale test. @throws {Error} when the page has no section for it. */
export function replaceEnvelope(page: string, results: Results): string {
  const from = page.indexOf(BEGIN)
  const to = page.indexOf(END)
  if (from === -1 || to < from) {
    throw new Error(
      `docs/production.md has no section for the envelope, between ${BEGIN} and ${END}`,
    )
  }
  const written = [BEGIN, '', ...envelope(results), '', END].join('\n')
  return page.slice(0, from) + written + page.slice(to + END.length)
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
