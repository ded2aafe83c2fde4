/** Runs whose executions are counted, in all processes of a test. */
import { setTimeout as sleep } from 'node:timers/promises'

import { ensemble, task, type Ensemble } from '@tutti/ensemble'

/** The ensemble, and its observed executions. */
export interface CountedRuns {
  readonly ensemble: Ensemble
  /** Number of executions of each topic. */
  readonly executions: ReadonlyMap<string, number>
  /** Maximum number of runs that executed at the same time. */
  readonly most: number
}

/** Creates an ensemble whose only task takes some time, and counts. */
export function countedRuns(taskMs: () => number): CountedRuns {
  const executions = new Map<string, number>()
  let active = 0
  let most = 0
  const work = task({
    name: 'work',
    description: 'Work on {topic}',
    handler: async ({ description }) => {
      active += 1
      most = Math.max(most, active)
      executions.set(description, (executions.get(description) ?? 0) + 1)
      await sleep(taskMs())
      active -= 1
      return 'done'
    },
  })
  return {
    ensemble: ensemble({ name: 'band', tasks: [work] }),
    executions,
    get most() {
      return most
    },
  }
}
