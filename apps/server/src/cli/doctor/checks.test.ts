/** The checks that only look at what they are given. */
import { describe, expect, it } from 'vitest'

import { checkAccess } from './check-access.ts'
import { checkDisk } from './check-data-directory.ts'
import { checkModels } from './check-models.ts'
import { checkNode } from './check-node.ts'

import type { AuthConfig } from '../../config.ts'

describe('checkNode', () => {
  it.each([
    ['22.12.9', undefined, 'problem'],
    ['20.99.0', undefined, 'problem'],
    ['22.13.0', undefined, 'ok'],
    ['22.17.1', '/a/tutti.config.js', 'ok'],
    ['22.17.1', '/a/tutti.config.ts', 'problem'],
    ['22.17.1', '/a/tutti.config.mts', 'problem'],
    ['22.18.0', '/a/tutti.config.ts', 'ok'],
    ['25.0.0-nightly', '/a/tutti.config.ts', 'ok'],
  ])('%s with %s: %3$s', (version, configPath, level) => {
    expect(checkNode({ version, needed: '>=22.13', configPath }).level).toBe(level)
  })
})

describe('checkAccess', () => {
  const key = { key: undefined, sha256: 'f', scopes: [] }
  const check = (host: string, auth: AuthConfig, names: readonly string[] = []) =>
    checkAccess({ auth }, { host, apiKeys: names.map((name) => ({ ...key, name })) }, 1_000).map(
      ({ level, message }) => `${level} ${message}`,
    )

  it('wants keys on every address but loopback, unless told otherwise', () => {
    for (const host of ['localhost', '127.0.0.1', '::1']) expect(check(host, {})[0]).toMatch(/^ok/)
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.evil.example']) {
      expect(check(host, {})).toEqual([expect.stringMatching(/^problem /)])
      expect(check(host, { allowUnauthenticated: true })).toEqual([
        expect.stringMatching(/^warning /),
      ])
      expect(check(host, {}, ['ci'])).toEqual([expect.stringMatching(/^ok .*: ci$/)])
    }
  })

  it('tells of keys that have expired', () => {
    const keys = [
      { name: 'old', key: 'x', expiresAt: 1_000 },
      { name: 'new', key: 'y', expiresAt: '2100-01-01' },
    ]
    expect(check('0.0.0.0', { keys })).toEqual([
      'warning Key "old" has expired',
      expect.stringMatching(/^ok .*: old, new$/),
    ])
  })
})

describe('checkModels', () => {
  it('looks for the key of each provider once, and never shows it', () => {
    const models = { a: 'openai:gpt-5-mini', b: 'openai:gpt-5', c: 'groq:x:y', d: 'ollama:z' }
    const variables = { OPENAI_API_KEY: 'sk-1', GROQ_API_KEY: ' ' }
    expect(
      checkModels({ ensembles: [], models }, variables).map(
        ({ level, message }) => `${level} ${message}`,
      ),
    ).toEqual([
      'ok openai: gpt-5-mini, gpt-5; OPENAI_API_KEY is set',
      'warning groq: x:y; GROQ_API_KEY is not set',
      'ok ollama: z',
    ])
    expect(checkModels({ ensembles: [] }, {})).toEqual([
      expect.objectContaining({ level: 'warning' }),
    ])
  })
})

describe('checkDisk', () => {
  it.each([
    [49, 'problem'],
    [51, 'warning'],
    [499, 'warning'],
    [500, 'ok'],
  ])('%i MiB: %s', (mib, level) => {
    expect(checkDisk(mib * 1_048_576, '/data').level).toBe(level)
  })
})
