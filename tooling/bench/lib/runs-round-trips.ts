/** How often this process asks Postgres something and waits for the answer. */
import { createRequire } from 'node:module'

/** What of the driver is used here. */
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

/** Round trips so far, over all connections of this process: a statement or several sent as one. */
export function roundTrips(): number {
  return count
}

/** The driver as `@tutti/runs` imports it. */
function driverOfRuns(): Driver {
  const require = createRequire(new URL('../../../packages/runs/package.json', import.meta.url))
  // NOTE: the driver has no types here; its clients have this method.
  return require('pg') as Driver
}
