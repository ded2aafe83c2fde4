/** Connects the tests to a database. */
import { Client, type ClientConfig } from 'pg'

/**
 * Opens a connection, which the caller must end. When it is lost, its queries fail. Without a listener, the error would be
 * uncaught and reported under any test file that runs at that time.
 */
export async function connectClient(config: string | ClientConfig): Promise<Client> {
  const client = new Client(config)
  client.on('error', () => undefined)
  await client.connect()
  return client
}
