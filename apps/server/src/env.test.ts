import { describe, expect, it } from 'vitest'

import { readEnvironment } from './env.ts'

describe('readEnvironment', () => {
  it('has defaults for everything', () => {
    expect(readEnvironment({})).toEqual({
      host: '127.0.0.1',
      port: 7329,
      configPath: undefined,
      dataDir: '.tutti',
      apiKeys: [],
      providers: [],
      sampleModel: undefined,
    })
  })

  it('takes what is set; what is empty counts as not set', () => {
    expect(
      readEnvironment({
        HOST: '0.0.0.0',
        PORT: '0',
        TUTTI_CONFIG: 'my.config.ts',
        TUTTI_DATA_DIR: ' data ',
        TUTTI_API_KEYS: 'first-key-of-length, second-key-of-length',
        TUTTI_MODEL: 'openai:gpt-5',
        TUTTI_ROLE: 'all',
        DATABASE_URL: '',
        OPENAI_API_KEY: 'sk-1',
        ANTHROPIC_API_KEY: ' ',
      }),
    ).toEqual({
      host: '0.0.0.0',
      port: 0,
      configPath: 'my.config.ts',
      dataDir: 'data',
      apiKeys: ['first-key-of-length', 'second-key-of-length'],
      providers: ['openai'],
      sampleModel: 'openai:gpt-5',
    })
  })

  it('names every variable that does not fit, at once, and no key', () => {
    const read = () =>
      readEnvironment({
        PORT: '80a',
        TUTTI_API_KEYS: 'secret,first-key-of-length',
        TUTTI_ROLE: 'worker',
        DATABASE_URL: 'postgres://user:pass@db/tutti',
      })
    expect(read).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        details: {
          problems: [
            'PORT must be a number from 0 to 65535, got "80a"',
            expect.stringContaining('1 of 2 are not'),
            expect.stringContaining('DATABASE_URL is set'),
            expect.stringContaining('TUTTI_ROLE "worker"'),
          ],
        },
      }),
    )
    expect(read).not.toThrow(/secret|pass@db/)
    expect(() => readEnvironment({ PORT: '65536' })).toThrow('PORT')
    expect(() => readEnvironment({ TUTTI_ROLE: 'boss' })).toThrow('must be "all", got "boss"')
  })
})
