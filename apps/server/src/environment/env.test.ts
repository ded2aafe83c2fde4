import { describe, expect, it } from 'vitest'

import { readEnvironment } from './env.ts'

/** Export of traces without variables. */
const NO_TELEMETRY = {
  isDisabled: false,
  headers: {},
  resource: {},
  sampler: { followsParent: true, ratio: 1 },
}

describe('readEnvironment', () => {
  it('readEnvironment has a default for every setting', () => {
    expect(readEnvironment({})).toEqual({
      host: '127.0.0.1',
      port: 7329,
      configPath: undefined,
      role: 'all',
      dataDir: '.tutti',
      synchronous: 'FULL',
      databaseUrl: undefined,
      databaseListenUrl: undefined,
      databaseReadUrl: undefined,
      apiKeys: [],
      ticketSecret: undefined,
      secrets: [],
      providers: [],
      logLevel: 'info',
      sampleModel: undefined,
      buildId: undefined,
      buildShare: 100,
      resumePolicy: 'strict',
      compatibleBuilds: [],
      telemetry: NO_TELEMETRY,
    })
  })

  it('readEnvironment reads every variable, and treats empty ones as not set', () => {
    expect(
      readEnvironment({
        HOST: '0.0.0.0',
        PORT: '0',
        TUTTI_CONFIG: 'my.config.ts',
        TUTTI_DATA_DIR: ' data ',
        TUTTI_SQLITE_SYNC: 'normal',
        TUTTI_API_KEYS: 'first-key-of-length, second-key-of-length',
        TUTTI_MODEL: 'openai:gpt-5',
        TUTTI_BUILD_ID: '2026-11-23',
        TUTTI_RESUME_POLICY: 'compatible',
        TUTTI_COMPATIBLE_BUILDS: 'a, b,',
        TUTTI_BUILD_SHARE: '5',
        TUTTI_TICKET_SECRET: '0123456789abcdef0123456789abcdef',
        LOG_LEVEL: 'Debug',
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
      synchronous: 'NORMAL',
      databaseUrl: 'postgresql://tutti:secret@pooler/tutti?sslmode=require',
      databaseListenUrl: 'postgres://tutti:secret@db:6432/tutti',
      databaseReadUrl: undefined,
      apiKeys: [
        { name: 'key-1', scopes: ['admin'], key: 'first-key-of-length', sha256: undefined },
        { name: 'key-2', scopes: ['admin'], key: 'second-key-of-length', sha256: undefined },
      ],
      ticketSecret: '0123456789abcdef0123456789abcdef',
      secrets: [
        '0123456789abcdef0123456789abcdef',
        'sk-1',
        'secret',
        'first-key-of-length',
        'second-key-of-length',
      ],
      providers: ['openai'],
      logLevel: 'debug',
      sampleModel: 'openai:gpt-5',
      buildId: '2026-11-23',
      buildShare: 5,
      resumePolicy: 'compatible',
      compatibleBuilds: ['a', 'b'],
      telemetry: NO_TELEMETRY,
    })
  })

  it('readEnvironment reports every invalid variable, without keys', () => {
    const read = () =>
      readEnvironment({
        PORT: '80a',
        TUTTI_API_KEYS: 'hidden,first-key-of-length',
        TUTTI_ROLE: 'boss',
        TUTTI_SQLITE_SYNC: 'off',
        TUTTI_TICKET_SECRET: 'secret',
        DATABASE_URL: 'mysql://user:pass@db/tutti',
        DATABASE_LISTEN_URL: 'user:pass@db',
      })
    expect(read).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        details: {
          problems: [
            'PORT must be an integer from 0 to 65535, got "80a"',
            'TUTTI_SQLITE_SYNC must be "full" or "normal", got "off"',
            'DATABASE_URL must be a URL such as postgres://user:password@host:5432/database',
            'DATABASE_LISTEN_URL must be a URL such as postgres://user:password@host:5432/database',
            'TUTTI_ROLE must be "all", "api" or "worker", got "boss"',
            'Key "key-1" of TUTTI_API_KEYS must have at least 16 characters and no spaces',
            'TUTTI_TICKET_SECRET must have at least 32 characters, got 6',
          ],
        },
      }),
    )
    expect(read).not.toThrow(/hidden|secret|pass@db/)
    expect(() => readEnvironment({ PORT: '65536' })).toThrow('PORT')
  })

  it.each(['api', 'worker'])('readEnvironment requires a database for the role %s', (role) => {
    expect(() => readEnvironment({ TUTTI_ROLE: role })).toThrow(
      `TUTTI_ROLE "${role}" needs DATABASE_URL`,
    )
    const url = 'postgres://db/tutti'
    expect(readEnvironment({ TUTTI_ROLE: role, DATABASE_URL: url })).toMatchObject({ role })
  })

  it('readEnvironment lists as secrets the variables with secret names, and the passwords of databases', () => {
    const variables: Readonly<Record<string, string>> = {
      STRIPE_KEY: 'stripe-value',
      github_token: 'github-value',
      MY_SECRET: ' my-value ',
      DB_PASSWORD: 'db-value',
      EMPTY_TOKEN: '',
      TOKENS: 'not one',
      DATABASE_URL: 'postgres://user:p%40ssword@db/tutti?password=of-the-query',
      DATABASE_LISTEN_URL: 'postgres://user:listen-word@db/tutti',
      DATABASE_READ_URL: 'postgres://user:read-word@db/tutti',
      NATS_URL: 'nats://user:nats-word@one:4222,nats://other:nats-two@two:4222',
      TUTTI_API_KEYS: `a:plain-key-of-length,b:sha256:${'AB'.repeat(32)}`,
    }
    const { secrets } = readEnvironment(variables)
    expect(secrets.toSorted()).toEqual(
      [
        'plain-key-of-length',
        'AB'.repeat(32),
        'ab'.repeat(32),
        'stripe-value',
        'github-value',
        'my-value',
        'db-value',
        'p%40ssword',
        'p@ssword',
        'of-the-query',
        'listen-word',
        'read-word',
        'nats-word',
        'nats-two',
      ].toSorted(),
    )
  })

  it.for(['DATABASE_LISTEN_URL', 'DATABASE_READ_URL'])(
    'readEnvironment rejects %s without DATABASE_URL',
    (name) => {
      expect(() => readEnvironment({ [name]: 'postgres://db/tutti' })).toThrow(
        `${name} is set without DATABASE_URL`,
      )
    },
  )

  it('readEnvironment reads the servers of a NATS cluster, and names everything that is wrong with them', () => {
    const DATABASE_URL = 'postgres://db/tutti'
    expect(readEnvironment({ DATABASE_URL }).nats).toBeUndefined()
    const NATS_URL = 'nats://one:4222,tls://two'
    const { nats } = readEnvironment({ DATABASE_URL, NATS_URL, TUTTI_NATS_REPLICAS: '3' })
    expect(nats).toEqual({ servers: NATS_URL, prefix: 'tutti', replicas: 3 })
    const wrong = { NATS_URL: 'http://one', TUTTI_NATS_PREFIX: 'a.b', TUTTI_NATS_REPLICAS: '2' }
    expect(() => readEnvironment(wrong)).toThrow(
      /NATS_URL must be.*\n.*TUTTI_NATS_REPLICAS must be "1", "3" or "5", got "2"\n.*TUTTI_NATS_PREFIX must.*\n.*NATS_URL is set without DATABASE_URL/,
    )
  })

  it('readEnvironment rejects a DATABASE_URL without a host', () => {
    expect(() => readEnvironment({ DATABASE_URL: 'postgres://' })).toThrow('DATABASE_URL must be')
  })
})
