/** Durable runs in Postgres, for any number of processes. */
export { postgresRunStorage } from './run-storage.ts'
export type { PostgresRunStorageOptions } from './database/options.ts'
