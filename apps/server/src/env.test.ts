import { describe, expect, it } from 'vitest'

import { readEnvironment } from './env.ts'

describe('readEnvironment', () => {
  it('has defaults for everything', () => {
    expect(readEnvironment({})).toEqual({
      host: '127.0.0.1',
      port: 7329,
      configPath: undefined,
      role: 'all',
      dataDir: '.tutti',
      databaseUrl: undefined,
      databaseListenUrl: undefined,
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
        TUTTI_ROLE: 'api',
        DATABASE_URL: 'postgresql://tutti:secret@pooler/tutti?sslmode=require',
        DATABASE_LISTEN_URL: 'postgres://tutti:secret@db:6432/tutti',
        OPENAI_API_KEY: 'sk-1',
        ANTHROPIC_API_KEY: ' ',
      }),
    ).toEqual({
      host: '0.0.0.0',
      port: 0,
      configPath: 'my.config.ts',
      role: 'api',
      dataDir: 'data',
      databaseUrl: 'postgresql://tutti:secret@pooler/tutti?sslmode=require',
      databaseListenUrl: 'postgres://tutti:secret@db:6432/tutti',
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
        TUTTI_ROLE: 'boss',
        DATABASE_URL: 'mysql://user:pass@db/tutti',
        DATABASE_LISTEN_URL: 'user:pass@db',
      })
    expect(read).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        details: {
          problems: [
            'PORT must be a number from 0 to 65535, got "80a"',
            'TUTTI_ROLE must be "all", "api" or "worker", got "boss"',
            'DATABASE_URL must be a URL such as postgres://user:password@host:5432/database',
            'DATABASE_LISTEN_URL must be a URL such as postgres://user:password@host:5432/database',
            expect.stringContaining('1 of 2 are not'),
          ],
        },
      }),
    )
    expect(read).not.toThrow(/secret|pass@db/)
    expect(() => readEnvironment({ PORT: '65536' })).toThrow('PORT')
  })

  it.each(['api', 'worker'])('the role %s needs a database', (role) => {
    expect(() => readEnvironment({ TUTTI_ROLE: role })).toThrow(
      `TUTTI_ROLE "${role}" needs DATABASE_URL`,
    )
    const url = 'postgres://db/tutti'
    expect(readEnvironment({ TUTTI_ROLE: role, DATABASE_URL: url })).toMatchObject({ role })
  })

  it('an address to listen on goes with a database', () => {
    const listen = 'postgres://db/tutti'
    expect(() => readEnvironment({ DATABASE_LISTEN_URL: listen })).toThrow(
      'DATABASE_LISTEN_URL is set without DATABASE_URL',
    )
    expect(() => readEnvironment({ DATABASE_URL: 'postgres://' })).toThrow('DATABASE_URL must be')
  })
})
