/** Lists runs of the embedded store, newest first. */
import { toRun } from './rows.ts'

import type { RunPage, RunQuery } from '../ports/run-store.ts'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

/** Makes the function that lists. */
export function runLister(database: DatabaseSync): (query: RunQuery) => RunPage {
  return (query) => {
    const { where, values } = filterOf(query)
    const counted = database.prepare(`SELECT count(*) AS total FROM runs ${where}`)
    const page = database.prepare(`SELECT * FROM runs ${where} ORDER BY id DESC LIMIT ? OFFSET ?`)
    return {
      runs: page.all(...values, query.limit, query.offset).map(toRun),
      total: Number(counted.get(...values)?.['total']),
    }
  }
}

interface Filter {
  readonly where: string
  readonly values: readonly SQLInputValue[]
}

function filterOf({ statuses, tag }: RunQuery): Filter {
  const conditions: string[] = []
  const values: SQLInputValue[] = []
  if (statuses !== undefined) {
    conditions.push(`status IN (${statuses.map(() => '?').join(', ')})`)
    values.push(...statuses)
  }
  if (tag !== undefined) {
    const value = tag.value === undefined ? '' : 'AND value = ?'
    conditions.push(`EXISTS (SELECT 1 FROM json_each(tags) WHERE key = ? ${value})`)
    values.push(tag.key, ...(tag.value === undefined ? [] : [tag.value]))
  }
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values }
}
