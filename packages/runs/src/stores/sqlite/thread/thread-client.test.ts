import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-thread-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

const source = (name: string): string =>
  JSON.stringify(fileURLToPath(new URL(name, import.meta.url)))

/** Runs a module with `storage` open, and `print`, in its own process. */
function runProcess(body: string): { readonly status: number | null; readonly lines: string[] } {
  const script = `
    import worker from 'node:worker_threads'
    import { syncBuiltinESMExports } from 'node:module'
    const Started = worker.Worker
    let thread
    worker.Worker = class extends Started {
      constructor(...given) { super(...given); thread = this }
    }
    syncBuiltinESMExports()
    const { sqliteRunStorage } = await import(${source('../run-storage.ts')})
    const { newRun, queued } = await import(${source('../../../testing/index.ts')})
    const print = (value) => console.log(JSON.stringify(value))
    const storage = await sqliteRunStorage(process.argv[1], { ownThread: true })
    const create = (runId) => {
      const run = newRun(runId)
      return storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 9 })
    }
    ${body}`
  const node = ['--conditions=@tutti/source', '--input-type=module', '--eval', script, directory]
  const { status, stdout, stderr } = spawnSync(process.execPath, node, { encoding: 'utf8' })
  return { status, lines: [...stdout.trim().split('\n'), ...stderr.trim().split('\n')] }
}

describe('ThreadClient', () => {
  it('[RUNS-TH4] An open store does not keep its process alive, but a call in flight does', () => {
    const { status, lines } = runProcess(`create('run-a').then(({ kind }) => print(kind))`)
    expect([status, lines[0]]).toEqual([0, '"created"'])
  })

  it('[RUNS-TH5] When its thread ends, calls are rejected as unavailable and the process ends with the reason', () => {
    const { status, lines } = runProcess(`
      storage.listen(print)
      const report = (error) => print([error.code, error.retryable, storage.isAvailable])
      const made = create('run-a').catch(report)
      await thread.terminate()
      await made
      await storage.runs.get('run-a').catch(report)
      setInterval(() => undefined, 1000)`)
    expect(lines.slice(0, 3).toSorted()).toEqual([
      '["STORE_UNAVAILABLE",true,false]',
      '["STORE_UNAVAILABLE",true,false]',
      '{"kind":"availability","isAvailable":false}',
    ])
    expect(lines.join('\n')).toMatch(
      /The thread of the run store in ".*" has failed: .*exit code 1/,
    )
    expect(status).toBe(1)
  })

  it('[RUNS-TH3] A value that cannot be sent rejects its own call only', () => {
    const { lines } = runProcess(`
      const odd = storage.memories.append('scope', { content: () => 1 })
      const all = await Promise.allSettled([create('run-a'), odd, create('run-b')])
      print(all.map((one) => one.value?.kind ?? one.reason.name))`)
    expect(lines[0]).toBe('["created","DataCloneError","created"]')
  })
})
