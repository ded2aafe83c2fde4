/** Tests the checks that depend only on their arguments. */
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { checkAccess } from './check-access.ts'
import { checkBudgets, checkModels, checkVariables } from '../../checks/check-config.ts'
import { checkDisk, checkRetention } from './check-data-directory.ts'
import { checkNode } from './check-node.ts'

import type { AuthConfig } from '../../config/config.ts'

describe('checkNode', () => {
  it.each([
    ['22.17.9', 'problem'],
    ['20.99.0', 'problem'],
    ['22.18.0', 'ok'],
    ['25.0.0-nightly', 'ok'],
  ])('checkNode rates Node %s as %s', (version, level) => {
    expect(checkNode({ version, needed: '>=22.18' }).level).toBe(level)
  })
})

describe('checkAccess', () => {
  const key = { key: undefined, sha256: 'f', scopes: [] }
  const check = (host: string, auth: AuthConfig, names: readonly string[] = []) =>
    checkAccess({ auth }, { host, apiKeys: names.map((name) => ({ ...key, name })) }, 1_000).map(
      ({ level, message }) => `${level} ${message}`,
    )

  it('checkAccess requires keys on every address but loopback, unless allowUnauthenticated is set', () => {
    for (const host of ['localhost', '127.0.0.1', '::1']) expect(check(host, {})[0]).toMatch(/^ok/)
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.evil.example']) {
      expect(check(host, {})).toEqual([expect.stringMatching(/^problem /)])
      expect(check(host, { allowUnauthenticated: true })).toEqual([
        expect.stringMatching(/^warning /),
      ])
      expect(check(host, {}, ['ci'])).toEqual([expect.stringMatching(/^ok .*: ci$/)])
    }
  })

  it('checkAccess warns of expired keys', () => {
    const keys = [
      { name: 'old', key: 'x', expiresAt: 1_000 },
      { name: 'new', key: 'y', expiresAt: '2100-01-01' },
    ]
    expect(check('0.0.0.0', { keys })).toEqual([
      'warning Key "old" has expired',
      expect.stringMatching(/^ok .*: new$/),
    ])
  })
})

describe('checkModels', () => {
  const variables: Readonly<Record<string, string>> = { OPENAI_API_KEY: 'sk-1', GROQ_API_KEY: ' ' }
  const check = (models: Readonly<Record<string, string>>, missing: readonly string[] = []) =>
    checkModels(
      { ensembles: [], models },
      {
        variables,
        isInstalled: (name) => !missing.includes(name),
      },
    ).map(({ level, message, advice = '' }) => [level, message, advice] as const)

  it('checkModels checks the key of each provider once, and never shows it', () => {
    const models = { a: 'openai:gpt-5-mini', b: 'openai:gpt-5', c: 'groq:x:y', d: 'ollama:z' }
    expect(check(models).map(([level, message]) => `${level} ${message}`)).toEqual([
      'ok openai: gpt-5-mini, gpt-5; OPENAI_API_KEY is set',
      'warning groq: x:y; GROQ_API_KEY is not set',
      'ok ollama: z',
    ])
    expect(checkModels({ ensembles: [] }, { variables: {} })).toEqual([
      expect.objectContaining({ level: 'warning' }),
    ])
  })

  it('checkModels reports a package that is not installed and how to install it', () => {
    expect(check({ a: 'mistralai:large', b: 'openai:gpt-5' }, ['@langchain/mistralai'])).toEqual([
      [
        'warning',
        'mistralai: large; the package @langchain/mistralai is not installed',
        'Run "npm install @langchain/mistralai"',
      ],
      ['ok', 'openai: gpt-5; OPENAI_API_KEY is set', ''],
    ])
  })

  it('checkModels finds installed packages by default', () => {
    const variables = { OPENAI_API_KEY: 'sk-1', PERPLEXITY_API_KEY: 'p-1' }
    const models = { a: 'openai:gpt-5', b: 'perplexity:sonar' }
    expect(checkModels({ ensembles: [], models }, { variables })).toMatchObject([
      { level: 'ok' },
      { level: 'warning', advice: 'Run "npm install @langchain/perplexity"' },
    ])
  })

  it('checkModels reports a provider that does not exist', () => {
    expect(check({ a: 'opnai:gpt-5' })).toEqual([
      [
        'problem',
        'opnai: gpt-5; LangChain has no provider "opnai"',
        expect.stringContaining('openai:'),
      ],
    ])
  })
})

describe('checkVariables', () => {
  it('checkVariables warns of unknown TUTTI_ variables, and suggests similar ones', () => {
    const variables = { TUTTI_DATADIR: 'x', TUTTI_ROLE: 'all', TUTTI_ZEBRA: '1', OTHER: '2' }
    expect(checkVariables(variables)).toMatchObject([
      {
        level: 'warning',
        message: 'Unknown variable TUTTI_DATADIR',
        advice: 'Did you mean TUTTI_DATA_DIR?',
      },
      { level: 'warning', message: 'Unknown variable TUTTI_ZEBRA' },
    ])
  })
})

describe('checkRetention', () => {
  it('checkRetention reports which ended runs are deleted', () => {
    expect(checkRetention({}, true).message).toBe('Ended runs are retained without limit')
    expect(checkRetention({}, false).message).toBe(
      'Ended runs are deleted beyond the newest 1000000',
    )
    const limits = { maxRetainedRuns: 500, maxRetainedAgeMs: 1000 }
    expect(checkRetention({ limits }, false).message).toBe(
      'Ended runs are deleted beyond the newest 500 and after 1000 ms',
    )
  })
})

describe('checkBudgets', () => {
  it('checkBudgets warns of a cost limit for a model without a price', async () => {
    const model = scriptedModel([], { provider: 'acme', name: 'large' })
    const tasks = [task({ description: 'Pay', budget: { maxCostUsd: 1 } })]
    const team = ensemble({ name: 'pay', tasks, model })
    expect(await checkBudgets({ ensembles: [team] })).toMatchObject([
      { level: 'warning', message: expect.stringContaining('no price is known for "acme:large"') },
    ])
    const free = ensemble({ name: 'pay', tasks, model: scriptedModel([]) })
    expect(await checkBudgets({ ensembles: [free] })).toEqual([])
  })
})

describe('checkDisk', () => {
  it.each([
    [49, 'problem'],
    [51, 'warning'],
    [499, 'warning'],
    [500, 'ok'],
  ])('checkDisk rates %i MiB of free space as %s', (mib, level) => {
    expect(checkDisk(mib * 1_048_576, '/data').level).toBe(level)
  })
})
