import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { findConfigProblems, loadConfig } from './load-config.ts'

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-config-'))
})

afterAll(() => {
  rmSync(directory, { recursive: true })
})

describe('findConfigProblems', () => {
  const band = ensemble({
    name: 'band',
    tasks: [task({ description: 'Play' })],
    model: scriptedModel([]),
  })

  it('finds nothing wrong with a config', () => {
    expect(findConfigProblems({ ensembles: [band], limits: { maxConcurrentRuns: 2 } })).toEqual([])
  })

  it.each([
    ['nothing', undefined, ['export default defineConfig']],
    ['no ensembles', {}, ['"ensembles" must be a list of at least one']],
    ['something else', { ensembles: [{ name: 'x' }] }, ['made by ensemble()']],
    ['unknown settings', { ensembles: [band], port: 1, model: 2 }, ['"port"', '"model"']],
  ])('says what is wrong with %s', (_, config, expected) => {
    expect(findConfigProblems(config)).toEqual(
      expected.map((text) => expect.stringContaining(text)),
    )
  })
})

describe('loadConfig', () => {
  it('names the file and the reason when it cannot be used', async () => {
    const broken = join(directory, 'broken.mjs')
    writeFileSync(broken, 'export default {')
    const empty = join(directory, 'empty.mjs')
    writeFileSync(empty, '')
    const missing = join(directory, 'missing.ts')
    for (const [path, reason] of [
      // The words are the engine's own.
      [broken, '\\S'],
      [empty, 'default export'],
      [missing, 'no such file'],
    ] as const) {
      await expect(loadConfig(path)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(new RegExp(`"${path}":[\\s\\S]*${reason}`)),
      })
    }
  })

  it('is undefined when there is no file to be found', async () => {
    expect(await loadConfig(undefined)).toBeUndefined()
  })
})
