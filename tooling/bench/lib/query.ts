/** Statements on the Postgres database of a measurement, outside of the measured store. */
import { createRequire } from 'node:module'

/** Used parts of the driver, whose types are not installed with the benchmarks. */
interface Driver {
  readonly Client: new (options: { readonly connectionString: string }) => Connection
}

/** A connection. */
interface Connection {
  connect(): Promise<void>
  on(event: 'error', listener: () => void): void
  query(statement: string): Promise<{ readonly rows: readonly Row[] }>
  end(): Promise<void>
}

type Row = Readonly<Record<string, unknown>>

const require = createRequire(new URL('../../../packages/runs/package.json', import.meta.url))

/** Executes statements on a separate connection; returns the rows of the last one. */
export async function query(
  connectionString: string,
  ...statements: string[]
): Promise<readonly Row[]> {
  // NOTE: the driver exports this class.
  const { Client } = require('pg') as Driver
  const client = new Client({ connectionString })
  // The statement fails as well; without a listener, a lost connection would end the process.
  client.on('error', () => undefined)
  await client.connect()
  try {
    let rows: readonly Row[] = []
    for (const statement of statements) ({ rows } = await client.query(statement))
    return rows
  } finally {
    await client.end()
  }
}
