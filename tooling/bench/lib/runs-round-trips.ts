/** Counts the round trips of this process to Postgres. */
import { createRequire } from 'node:module'

/** Used parts of the driver. */
interface Driver {
  readonly Client: { readonly prototype: { query: (...args: unknown[]) => unknown } }
}

const { Client } = driverOfRuns()
const { query } = Client.prototype
let count = 0
Client.prototype.query = function counted(...args) {
  count += 1
  return query.apply(this, args)
}

/** Returns the round trips so far, over all connections of this process: a statement, or several sent as one. */
export function roundTrips(): number {
  return count
}

/** The driver that `@tutti/runs` imports. */
function driverOfRuns(): Driver {
  const require = createRequire(new URL('../../../packages/runs/package.json', import.meta.url))
  // NOTE: the driver has no types here; its clients have this method.
  return require('pg') as Driver
}
