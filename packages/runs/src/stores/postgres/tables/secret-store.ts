/** Shared secrets in Postgres. */
import { newSecret } from '../../shared/new-secret.ts'
import { toIndex } from '../database/text.ts'

import type { SecretStore } from '../../../ports/secret-store.ts'
import type { Database } from '../database/database.ts'

/** Returns the secret store of a Postgres database. */
export function postgresSecretStore(database: Database): SecretStore {
  const table = `${database.schema}.secrets`
  const find = async (key: string): Promise<string | undefined> => {
    const [row] = await database.query(`SELECT value FROM ${table} WHERE name = $1`, [key])
    return row === undefined ? undefined : String(row['value'])
  }
  return {
    async get(name) {
      const key = toIndex(name)
      const found = await find(key)
      if (found !== undefined) return found
      const created = newSecret()
      await database.query(
        `INSERT INTO ${table} (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
        [key, created],
      )
      // Another process may have created it in the meantime.
      return (await find(key)) ?? created
    },
  }
}
