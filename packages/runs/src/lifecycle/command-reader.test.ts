import { describe, expect, it } from 'vitest'

import { CommandReader } from './command-reader.ts'

import type { PendingCommand } from '../ports/command-queue.ts'

const pendingFor = (runId: string): PendingCommand => ({
  id: `command-${runId}`,
  runId,
  command: { kind: 'cancel' },
})

/** Creates a reader over a store whose reads the test ends. */
function openReader() {
  const reads: { readonly runIds: readonly string[]; end(error?: Error): void }[] = []
  const delivered: string[] = []
  const reader = new CommandReader({
    commands: {
      pending: (runIds) =>
        new Promise((resolve, reject) => {
          reads.push({
            runIds,
            end: (error) => (error === undefined ? resolve(runIds.map(pendingFor)) : reject(error)),
          })
        }),
    },
    deliver: ({ runId }) => delivered.push(runId),
  })
  return { reader, reads, delivered }
}

describe('CommandReader', () => {
  it('CommandReader answers all requests during a read with one more read', async () => {
    const { reader, reads, delivered } = openReader()
    const first = reader.read(['a'])
    const others = [...Array.from({ length: 100 }, () => reader.read(['a'])), reader.read(['b'])]
    expect(reads.map(({ runIds }) => runIds)).toEqual([['a']])
    reads[0]?.end()
    await expect.poll(() => reads.length).toBe(2)
    expect(reads[1]?.runIds).toEqual(['a', 'b'])
    reads[1]?.end()
    await Promise.all([first, ...others])
    expect(reads).toHaveLength(2)
    expect(delivered).toEqual(['a', 'a', 'b'])
  })

  it('CommandReader reads again after a read failed', async () => {
    const { reader, reads, delivered } = openReader()
    const failed = reader.read(['a'])
    reads[0]?.end(new Error('no store'))
    await expect(failed).rejects.toThrow('no store')
    const again = reader.read(['a'])
    reads[1]?.end()
    await again
    expect(delivered).toEqual(['a'])
  })
})
