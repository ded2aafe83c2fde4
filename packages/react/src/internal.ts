/** For the other packages of Tutti only: its names may change in every version. */
export { useServerConnection } from './use-server-connection.ts'
export { followServer, type NotedEvent, type ServerConnection } from './server-feed.ts'
export type { LiveThreadRun } from './thread-store.ts'
