import { readdir } from 'node:fs/promises'

import { describe, expect, it, vi } from 'vitest'

import { isRunning } from '../../../../tooling/test-kit/processes.ts'
import { signalMarked } from './process-tree.ts'

vi.mock(import('node:fs/promises'), { spy: true })

describe.runIf(process.platform === 'linux')('signals to what carries a mark', () => {
  it('go to nobody when nobody carries it', async () => {
    await signalMarked('no such mark', 'SIGKILL')
    expect(isRunning(process.pid)).toBe(true)
  })

  it('[T1] cost two looks at the processes, however many are sent at once', async () => {
    vi.mocked(readdir).mockClear()
    await Promise.all(Array.from({ length: 100 }, () => signalMarked('no such mark', 'SIGTERM')))
    expect(vi.mocked(readdir).mock.calls.length).toBeLessThanOrEqual(2)
  })

  it('[T1] look again each time they are sent', async () => {
    vi.mocked(readdir).mockClear()
    await signalMarked('no such mark', 'SIGTERM')
    await signalMarked('no such mark', 'SIGTERM')
    expect(readdir).toHaveBeenCalledTimes(2)
  })
})
