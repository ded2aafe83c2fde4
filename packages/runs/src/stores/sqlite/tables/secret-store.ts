/** Shared secrets in the embedded store. */
import { newSecret } from '../../shared/new-secret.ts'

import type { SecretStore } from '../../../ports/secret-store.ts'
import type { SqliteParts } from '../rows/parts.ts'

/** Returns the secret store of an open database. */
export function sqliteSecretStore({
  database,
  transaction,
}: Pick<SqliteParts, 'database' | 'transaction'>): SecretStore {
  const insert = database.prepare(
    'INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
  )
  const select = database.prepare('SELECT value FROM secrets WHERE name = ?')
  return {
    async get(name) {
      const key = JSON.stringify(name)
      return transaction(() => {
        insert.run(key, newSecret())
        return String(select.get(key)?.['value'])
      })
    },
  }
}
