/** Cases of RUNS-L4 in a shared storage: the order of runs that other processes store. */
import { deepStrictEqual } from 'node:assert/strict'

import { claimDue, createRun } from '../support/run-fixtures.ts'

import type { SharedStorageCase } from '../support/storage-case.ts'

export const sharedOrderCases: readonly SharedStorageCase[] = [
  {
    name: '[RUNS-L4] The next claim of a process takes a run of a higher priority, or of another key, that another process has stored',
    async run({ storage, another }) {
      const other = await another()
      for (let n = 1; n <= 6; n += 1) await createRun(storage, `a${n}`, { fairnessKey: 'a' })
      const claim = async () => {
        const claimed = await claimDue(storage, { wanted: 1 })
        return claimed.map(({ run }) => run.runId)
      }
      deepStrictEqual([await claim(), await claim()], [['a1'], ['a2']])
      await createRun(other, 'b1', { fairnessKey: 'b' })
      await createRun(other, 'b2', { fairnessKey: 'b' })
      await createRun(other, 'high', { fairnessKey: 'a', priority: 'high' })
      deepStrictEqual(await claim(), ['high'])
      deepStrictEqual([await claim(), await claim(), await claim()], [['a3'], ['b1'], ['a4']])
    },
  },
]
