import { describe, expect, it } from 'vitest'

import { resolvePostgresRunStorageOptions } from './options.ts'

const URL_TEXT = 'postgres://me:secret@h/d'

describe('resolvePostgresRunStorageOptions', () => {
  it('resolvePostgresRunStorageOptions fills in the defaults', () => {
    const options = resolvePostgresRunStorageOptions({ connectionString: URL_TEXT })
    expect(options).toMatchObject({
      listenConnectionString: URL_TEXT,
      schema: 'tutti',
      maxConnections: 10,
      queryLimitMs: 5_000,
      readConnectionString: URL_TEXT,
      preparedStatements: true,
    })
  })

  it('resolvePostgresRunStorageOptions disables prepared statements behind a pooler unless they are enabled', () => {
    const pooled = { connectionString: URL_TEXT, listenConnectionString: URL_TEXT }
    expect(resolvePostgresRunStorageOptions(pooled).preparedStatements).toBe(false)
    const settings = { ...pooled, preparedStatements: true }
    expect(resolvePostgresRunStorageOptions(settings).preparedStatements).toBe(true)
  })

  it('resolvePostgresRunStorageOptions names every option that is out of range, and shows no password', () => {
    const bad = () =>
      resolvePostgresRunStorageOptions({
        connectionString: 'mysql://me:secret@h/d',
        listenConnectionString: 'secret',
        readConnectionString: 'secret',
        schema: 'ä'.repeat(32),
        maxConnections: 2,
        queryLimitMs: 0.5,
      })
    expect(bad).toThrow(RangeError)
    expect(bad).toThrow(
      /connectionString.*listenConnectionString.*readConnectionString.*schema.*maxConnections.*got 2.*queryLimitMs.*got 0.5/,
    )
    expect(bad).not.toThrow(/secret/)
  })

  it.for(['', 'pg_mine', 'a\0b'])(
    'resolvePostgresRunStorageOptions rejects the schema name %j',
    (schema) => {
      expect(() =>
        resolvePostgresRunStorageOptions({ connectionString: URL_TEXT, schema }),
      ).toThrow(/schema/)
    },
  )
})
