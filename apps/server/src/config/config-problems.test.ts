import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { findConfigProblems, toEpochMs } from './config-problems.ts'

const band = ensemble({
  name: 'band',
  tasks: [task({ description: 'Play' })],
  model: scriptedModel([]),
})
const KEY = 'a-key-of-some-length'

describe('findConfigProblems', () => {
  it('findConfigProblems returns no problem for a valid config', async () => {
    const keys = [
      {
        name: 'a',
        key: KEY,
        scopes: ['runs:read'],
        expiresAt: '2030-01-31',
        limits: { requestsPerMinute: 9 },
      },
      { name: 'b', sha256: 'a'.repeat(64), expiresAt: 1 },
    ]
    expect(
      await findConfigProblems({
        ensembles: [band],
        limits: { maxConcurrentRuns: 2, maxRetainedAgeMs: undefined },
        auth: { keys, allowUnauthenticated: true },
        allowedHosts: ['a.example'],
        publicUrl: 'https://a.example',
        allowedOrigins: ['https://a.example'],
        workspace: '.',
        dashboard: false,
        shared: {
          ensembles: ['band'],
          tools: [],
          ignoreSampling: ['band'],
          tags: { band: ['loud'] },
        },
        models: { small: 'test:small' },
        modelTiers: { fast: 'small' },
        profiles: { night: { modelTier: 'fast' } },
        secrets: ['something-secret'],
        telemetry: { traces: { url: 'https://a.example/v1/traces', sampleRatio: 0.5 } },
      }),
    ).toEqual([])
    for (const traces of [true, false, {}, { headers: { a: 'b' }, serviceName: 'c' }]) {
      const telemetry = { traces, captureContent: true }
      expect(await findConfigProblems({ ensembles: [band], telemetry })).toEqual([])
    }
  })

  it.each([
    ['undefined', undefined, ['export default defineConfig']],
    ['an array', [], ['export default defineConfig']],
    ['a config without ensembles', {}, ['"ensembles" must be a list of at least one']],
    ['values that are not ensembles', { ensembles: [{ name: 'x' }] }, ['created by ensemble()']],
    ['unknown settings', { ensembles: [band], port: 1, model: 2 }, ['"port"', '"model"']],
    [
      'limits',
      {
        ensembles: [band],
        limits: { maxConcurentRuns: 1, leaseMs: 10, maxQueuedRuns: '5', maxSockets: -1 },
      },
      [
        '"maxConcurentRuns" is not a known limit in "limits". Did you mean "maxConcurrentRuns"?',
        'maxSockets in "limits" must be a number >= 0, got -1',
        'in "limits", maxQueuedRuns must be an integer >= 0',
        'in "limits", leaseMs must be a number >= 1000',
      ],
    ],
    [
      'limits of a key',
      {
        ensembles: [band],
        auth: {
          keys: [{ name: 'ci', key: 'x'.repeat(32), limits: { maxPriority: 1, maxRuns: 1 } }],
        },
      },
      [
        '"maxRuns" is not a known limit in "limits of auth.keys[0]"',
        'maxPriority in "limits of auth.keys[0]" must be one of low, normal, high, got 1',
      ],
    ],
    [
      'lists',
      { ensembles: [band], allowedHosts: 'x', secrets: [1] },
      ['"allowedHosts"', '"secrets"'],
    ],
    ['a public address', { ensembles: [band], publicUrl: 1 }, ['"publicUrl" must be a string']],
    ['a workspace', { ensembles: [band], workspace: './nowhere' }, ['nowhere" is not']],
    [
      'a dashboard',
      { ensembles: [band], dashboard: 'dist' },
      ['"dashboard" must be true or false'],
    ],
    [
      'tiers and profiles',
      { ensembles: [band], modelTiers: { fast: 1 }, profiles: { night: { tier: 'fast' }, day: 1 } },
      ['"modelTiers.fast"', '"tier" is not a known', 'must have a modelTier', '"profiles.day"'],
    ],
    [
      'shared',
      { ensembles: [band], shared: { tools: 'x', ignoreSampling: true, all: true } },
      ['"all"', '"shared.tools"', '"shared.ignoreSampling"'],
    ],
    [
      'tags of shared items',
      { ensembles: [band], shared: { tags: { band: 'loud' } } },
      ['"shared.tags.band"'],
    ],
    [
      'auth',
      { ensembles: [band], auth: { keys: {}, open: 1, allowUnauthenticated: 'yes' } },
      ['"open"', 'true or false', 'a list of keys'],
    ],
  ])('findConfigProblems reports the problems of %s', async (_, config, expected) => {
    expect(await findConfigProblems(config)).toEqual(
      expected.map((text) => expect.stringContaining(text)),
    )
  })

  it('findConfigProblems names every problem of every key, without the keys', async () => {
    const keys = [
      { name: '', key: 'secret value' },
      { name: 'b', key: KEY, sha256: 'also-secret' },
      {
        name: 'c',
        scopes: ['root'],
        expiresAt: 'soon',
        limits: { runs: 1, requestsPerMinute: 'x' },
      },
      'd',
    ]
    const problems = await findConfigProblems({ ensembles: [band], auth: { keys } })
    expect(problems).toEqual(
      [
        '"auth.keys[0]" must have a name',
        'key of "auth.keys[0]" must have at least 16 characters',
        '"auth.keys[1]" must have either a key or its sha256',
        'sha256 of "auth.keys[1]" must be 64 hexadecimal digits',
        '"auth.keys[2]" must have either a key or its sha256',
        'expiresAt of "auth.keys[2]" must be',
        'scopes of "auth.keys[2]" must be a list of runs:read',
        '"runs" is not a known limit',
        'requestsPerMinute in "limits of auth.keys[2]"',
        '"auth.keys[3]" must be an object',
      ].map((text) => expect.stringContaining(text)),
    )
    expect(problems.join()).not.toMatch(/secret value|also-secret|a-key/)
  })
})

describe('toEpochMs', () => {
  it('toEpochMs reads times and numbers, and returns NaN for anything else', () => {
    expect([toEpochMs(5), toEpochMs('1970-01-01T00:00:01Z')]).toEqual([5, 1_000])
    expect([toEpochMs('soon'), toEpochMs({})]).toEqual([NaN, NaN])
  })

  it('findConfigProblems names the problems of telemetry, without the headers', async () => {
    const problems = (telemetry: unknown) => findConfigProblems({ ensembles: [band], telemetry })
    expect(await problems(true)).toEqual(['"telemetry" must be an object'])
    const wrong = { traces: 'yes', captureContent: 1, maxAddedTasks: 0.5, logs: true }
    expect(await problems(wrong)).toEqual([
      '"logs" is not a known setting of "telemetry". Known: traces, captureContent, maxAddedTasks',
      '"telemetry.captureContent" must be true or false',
      '"telemetry.maxAddedTasks" must be a whole number from 0 to 1000000000000, got 0.5',
      '"telemetry.traces" must be true, false or an object',
    ])
    const traces = {
      url: 'collector:4318',
      headers: { key: ['secret-key'] },
      serviceName: 7,
      sampleRatio: 2,
      interval: 5,
    }
    expect(await problems({ traces })).toEqual([
      '"interval" is not a known setting of "telemetry.traces". Known: url, headers, serviceName, sampleRatio',
      'url of "telemetry.traces" must be a URL',
      'headers of "telemetry.traces" must be strings by name',
      'serviceName of "telemetry.traces" must be a string',
      'sampleRatio of "telemetry.traces" must be a number from 0 to 1',
    ])
  })
})
