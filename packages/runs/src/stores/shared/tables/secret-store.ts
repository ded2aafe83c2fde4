/** Shared secrets. */
import { newSecret } from '../new-secret.ts'

import type { SecretStore } from '../../../ports/secret-store.ts'
import type { StoreParts } from '../schema/dialect.ts'

/** Returns the secret store of a database. */
export function secretStore({
  dialect: { texts },
  requests,
}: Pick<StoreParts, 'dialect' | 'requests'>): SecretStore {
  const find = async (key: string): Promise<string | undefined> => {
    const [row] = await requests.query('SELECT value FROM $schema.secrets WHERE name = $1', [key])
    return row === undefined ? undefined : String(row['value'])
  }
  return {
    async get(name) {
      const key = texts.encode.key(name)
      const found = await find(key)
      if (found !== undefined) return found
      const created = newSecret()
      await requests.query(
        `INSERT INTO $schema.secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
        [key, created],
      )
      // Another process may have created it in the meantime.
      return (await find(key)) ?? created
    },
  }
}
