/** Lists the runs that have not ended, with their state. */
import type { ChaosDatabase } from './database.ts'

const MAX_LINES = 50

/** Returns one line per run, for the first of them. */
export async function stuckRuns(database: ChaosDatabase, wanted: number): Promise<string> {
  const rows = await database.read(
    `SELECT run_id, ensemble, status, state, owner, epoch, lost_owners, last_seq,
       ${database.dialect.stuckColumns},
       (SELECT count(*) FROM tutti.commands WHERE run = runs.id AND answer IS NULL) AS commands,
       (SELECT string_agg(type, ' ' ORDER BY seq)
        FROM (SELECT ${database.dialect.eventKey}, type FROM tutti.events) AS events
        WHERE run = runs.id AND seq > runs.last_seq - 6) AS last_events
     FROM tutti.runs WHERE state <> 'ended' AND id > ${database.lastEarlierRun} ORDER BY id`,
  )
  const [count] = await database.read(
    `SELECT count(*) AS count FROM tutti.runs WHERE id > ${database.lastEarlierRun}`,
  )
  const lines = rows.slice(0, MAX_LINES).map((row) => `  ${JSON.stringify(row)}`)
  const taken = `${String(count?.['count'])} of ${wanted} runs were taken in`
  return [`The time is over: ${taken}, ${rows.length} of them have not ended`, ...lines].join('\n')
}
