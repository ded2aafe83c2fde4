import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { newRun, queued, runStorageCases } from '../testing/run-storage-cases.ts'
import { sqliteRunStorage } from './sqlite-run-storage.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-runs-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

describe('the embedded storage', () => {
  for (const { name, run } of runStorageCases) {
    it(name, async () => {
      await using storage = sqliteRunStorage(directory)
      await run(storage)
    })
  }

  it('keeps everything when it is opened again', async () => {
    const run = newRun('run-a')
    {
      await using storage = sqliteRunStorage(directory)
      await storage.runs.create(run, queued(run))
    }
    await using storage = sqliteRunStorage(directory)
    expect((await storage.runs.get('run-a'))?.inputs).toEqual(run.inputs)
    expect(await storage.events.read({ runId: 'run-a', from: 0, limit: 9 })).toHaveLength(1)
  })

  it('refuses a schema that a newer version wrote, naming both versions', () => {
    const database = new DatabaseSync(join(directory, 'runs.sqlite'))
    database.exec('PRAGMA user_version = 99')
    database.close()
    expect(() => sqliteRunStorage(directory)).toThrow(
      expect.objectContaining({
        code: 'SCHEMA_TOO_NEW',
        message: expect.stringMatching(/version 99.*up to version 2;/),
      }),
    )
  })

  it('says which directory cannot be used', () => {
    const file = join(directory, 'file')
    writeFileSync(file, '')
    expect(() => sqliteRunStorage(join(file, 'below'))).toThrow(
      expect.objectContaining({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining(file),
      }),
    )
  })
})

describe('the lock of the embedded storage', () => {
  const source = fileURLToPath(new URL('../index.ts', import.meta.url))
  const script = `
    import { sqliteRunStorage } from ${JSON.stringify(source)}
    try { sqliteRunStorage(process.argv[1]); console.log('open'); process.stdin.resume() }
    catch (error) { console.log(error.code + ' ' + error.message) }`
  const node = ['--conditions=@tutti/source', '--input-type=module', '--eval', script]

  it('refuses a second process with a way out, and a second opening in this one', async () => {
    await using storage = sqliteRunStorage(directory)
    const { stdout } = spawnSync(process.execPath, [...node, directory], { encoding: 'utf8' })
    expect(stdout).toMatch(/^STORE_LOCKED .*another process.*TUTTI_DATA_DIR/)
    expect(() => sqliteRunStorage(directory)).toThrow(
      expect.objectContaining({ code: 'STORE_LOCKED' }),
    )
    expect(await storage.runs.unfinished()).toEqual([])
  })

  it('is free again right after its owner was killed', async () => {
    const owner = spawn(process.execPath, [...node, directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const [said] = await once(owner.stdout, 'data')
    expect(String(said)).toBe('open\n')
    owner.kill('SIGKILL')
    await once(owner, 'exit')
    await using storage = sqliteRunStorage(directory)
    expect(await storage.runs.unfinished()).toEqual([])
  })
})
