import { readdir } from 'node:fs/promises'

import { describe, expect, it, vi } from 'vitest'

import { isRunning } from '../../../../tooling/test-kit/processes.ts'
import { signalMarked } from './process-tree.ts'

vi.mock(import('node:fs/promises'), { spy: true })

describe.runIf(process.platform === 'linux')('signalMarked', () => {
  it('signalMarked sends no signal when no process has the mark', async () => {
    await signalMarked('no such mark', 'SIGKILL')
    expect(isRunning(process.pid)).toBe(true)
  })

  it('[NET-T1] signalMarked scans the processes at most twice for any number of concurrent signals', async () => {
    vi.mocked(readdir).mockClear()
    await Promise.all(Array.from({ length: 100 }, () => signalMarked('no such mark', 'SIGTERM')))
    expect(vi.mocked(readdir).mock.calls.length).toBeLessThanOrEqual(2)
  })

  it('[NET-T1] signalMarked scans the processes again for each later signal', async () => {
    vi.mocked(readdir).mockClear()
    await signalMarked('no such mark', 'SIGTERM')
    await signalMarked('no such mark', 'SIGTERM')
    expect(readdir).toHaveBeenCalledTimes(2)
  })
})
