/** Plans of statements with what they used, in numbers that do not depend on the machine. */
import { expect } from 'vitest'

import type { Client } from 'pg'

/** A node of a plan, in the format of Postgres. */
export type PlanNode = Readonly<Record<string, unknown>>

/** The plan of a statement, with what it used. */
export interface UsedPlan {
  /** All nodes; the first includes the others. */
  readonly nodes: readonly PlanNode[]
  /** Number of pages that it accessed, each time that it did. */
  readonly buffers: number
}

/** Executes a statement, and rolls it back. */
export async function explainStatement(
  client: Client,
  sql: string,
  values: readonly unknown[],
): Promise<UsedPlan> {
  await client.query('BEGIN')
  const { rows } = await client.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
    [...values],
  )
  await client.query('ROLLBACK')
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan ?? expect.fail('there is no plan')
  const buffers = Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks'])
  return { nodes: listNodes(plan), buffers }
}

function listNodes(plan: PlanNode): readonly PlanNode[] {
  // NOTE: this is the format of Postgres.
  const children = (plan['Plans'] ?? []) as readonly PlanNode[]
  return [plan, ...children.flatMap(listNodes)]
}
