/** Statements on the Postgres database of a measurement, outside of the measured store. */
import { createRequire } from 'node:module'

/** Used parts of the driver, whose types are not installed with the benchmarks. */
interface Driver {
  readonly Client: new (options: { readonly connectionString: string }) => Connection
}

interface Connection {
  connect(): Promise<void>
  on(event: 'error', listener: () => unknown): void
  query(statement: string): Promise<{ readonly rows: readonly Row[] }>
  end(): Promise<void>
}

type Row = Readonly<Record<string, unknown>>

const require = createRequire(new URL('../../../packages/runs/package.json', import.meta.url))

/** Connections that listen. */
export interface Listeners extends AsyncDisposable {
  /** Number of connections that are open. */
  readonly count: number
}

/** Number of connections that are opened at the same time. */
const OPENED_TOGETHER = 20

/** Opens connections that each listen to a channel without notifications. */
export async function openListeners(connectionString: string, count: number): Promise<Listeners> {
  // NOTE: the driver exports this class.
  const { Client } = require('pg') as Driver
  const open = new Set<Connection>()
  const left = Array.from({ length: count }, (_, number) => number)
  const openSome = async (): Promise<void> => {
    for (let number = left.pop(); number !== undefined; number = left.pop()) {
      const client = new Client({ connectionString })
      client.on('error', () => open.delete(client))
      await client.connect()
      await client.query(`LISTEN quiet_${number}`)
      open.add(client)
    }
  }
  await Promise.all(Array.from({ length: OPENED_TOGETHER }, openSome))
  return {
    get count() {
      return open.size
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...open].map((client) => client.end()))
    },
  }
}

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

/** Returns the version of the server of a database, and whether it compiles expensive plans, for a reader. */
export async function describeServer(connectionString: string): Promise<string> {
  const [server] = await query(
    connectionString,
    `SELECT version() AS version, current_setting('jit') = 'on' AND pg_jit_available() AS compiles`,
  )
  return `${String(server?.['version'])}; JIT is ${server?.['compiles'] === true ? 'on' : 'off'}`
}
