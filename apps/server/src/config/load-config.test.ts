import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { loadConfig } from './load-config.ts'

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-config-'))
})

afterAll(() => {
  rmSync(directory, { recursive: true })
})

describe('loadConfig', () => {
  it('loadConfig throws an error with the file and the reason when the file cannot be used', async () => {
    const broken = join(directory, 'broken.mjs')
    writeFileSync(broken, 'export default {')
    const empty = join(directory, 'empty.mjs')
    writeFileSync(empty, '')
    const missing = join(directory, 'missing.ts')
    for (const [path, reason] of [
      // The message comes from the JavaScript engine.
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

  it('loadConfig says which version of Node runs a TypeScript config', async () => {
    // Like Node 23.0 to 23.5, which the tests do not run on.
    const path = join(directory, 'typed.mjs')
    const message = 'Unknown file extension ".ts" for /app/c.config.ts'
    writeFileSync(
      path,
      `throw Object.assign(new TypeError('${message}'), { code: 'ERR_UNKNOWN_FILE_EXTENSION' })`,
    )
    await expect(loadConfig(path)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(
        /Use Node 22\.18, or 23\.6 or later, or a config file in JavaScript/,
      ),
      cause: expect.objectContaining({ message }),
    })
  })

  it('loadConfig adds the position of an invalid setting', async () => {
    const path = join(directory, 'settings.mjs')
    writeFileSync(path, 'export default {\n  port: 1,\n  limits: { leaseMs: "5s" },\n}\n')
    await expect(loadConfig(path)).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringMatching(
          /"port" is not .*settings\.mjs:2:3\)\n.*\n.*leaseMs .*settings\.mjs:3:13\)/,
        ),
      }),
    )
  })

  it('loadConfig returns undefined when there is no config file', async () => {
    expect(await loadConfig(undefined)).toBeUndefined()
  })
})
