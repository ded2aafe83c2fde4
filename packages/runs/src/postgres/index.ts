/** Durable runs in Postgres, for any number of processes. */
export { postgresRunStorage } from './postgres-run-storage.ts'
export type { PostgresRunStorageOptions } from './options.ts'
