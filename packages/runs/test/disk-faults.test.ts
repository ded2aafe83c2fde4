/** The embedded store while its file cannot be written: another program locks it, or the kernel refuses its writes. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { openRuns, temporaryDirectory, waitingEnsemble } from './waiting-ensemble.ts'

import type { RunService } from '@tutti/runs'

/** A way to refuse the writes of this process; the returned function ends it. */
interface Fault {
  readonly title: string
  readonly begin: (directory: string) => () => void
}

/** Locks the file as a VACUUM, a replication tool or an open transaction of a shell does. */
const LOCK: Fault = {
  title: 'another program locks the file',
  begin(directory) {
    const other = new DatabaseSync(join(directory, 'runs.sqlite'))
    other.exec('BEGIN IMMEDIATE')
    return () => {
      other.exec('ROLLBACK')
      other.close()
    }
  },
}

/** Lets the kernel refuse each write of this process to a file, like a disk with an error. */
const REFUSED_WRITES: Fault = {
  title: 'the kernel refuses writes',
  begin() {
    limitFileSize('1')
    return () => {
      limitFileSize('unlimited')
    }
  },
}

function limitFileSize(limit: string): void {
  execFileSync('prlimit', ['--pid', `${process.pid}`, `--fsize=${limit}:`])
}

const hasLimits = process.platform === 'linux'

describe.each(hasLimits ? [LOCK, REFUSED_WRITES] : [LOCK])('while $title', ({ begin }) => {
  let end = (): void => undefined
  let service: RunService | undefined

  afterEach(async () => {
    end()
    await service?.close({ drainTimeoutMs: 5_000 })
    service = undefined
  })

  it('[RUNS-P19] Submits and commands are rejected as unavailable during a disk fault, and running runs wait and complete', async () => {
    using directory = temporaryDirectory()
    const band = waitingEnsemble()
    service = await openRuns(directory.path, [band.ensemble])
    const runs = service
    const submit = (topic: string) => runs.submit({ inputs: { topic } })
    const ids = [(await submit('a')).runId, (await submit('b')).runId]
    await band.waiting(2)

    end = begin(directory.path)
    const error = { code: 'STORE_UNAVAILABLE', retryable: true }
    await expect(submit('c')).rejects.toMatchObject(error)
    expect(runs.status.isStoreAvailable).toBe(false)
    expect(runs.status.state).toBe('STORE_UNAVAILABLE')
    await expect(runs.send(ids[0] ?? '', { kind: 'cancel', mode: 'abort' })).rejects.toMatchObject(
      error,
    )
    // Their results cannot be written yet.
    band.play()
    expect((await runs.get(ids[0] ?? ''))?.run.status).toBe('RUNNING')

    end()
    end = () => undefined
    await until('the store can be used again', () => runs.status.state === 'READY')
    for (const runId of ids) {
      await until(
        'the run has ended',
        async () => (await runs.get(runId))?.run.status === 'COMPLETED',
      )
    }
    expect((await submit('d')).runId).toMatch(/^run-/)
  })

  it('[RUNS-P20] A running run can be cancelled when the store is available again', async () => {
    using directory = temporaryDirectory()
    const band = waitingEnsemble()
    service = await openRuns(directory.path, [band.ensemble])
    const runs = service
    const { runId } = await runs.submit({ inputs: { topic: 'a' } })
    await band.waiting(1)
    end = begin(directory.path)
    await expect(runs.submit({ inputs: { topic: 'b' } })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
    end()
    end = () => undefined
    await until('the store can be used again', () => runs.status.state === 'READY')
    await runs.send(runId, { kind: 'cancel', mode: 'abort' })
    await until(
      'the run is cancelled',
      async () => (await runs.get(runId))?.run.status === 'CANCELLED',
    )
  })
})
