/** For the other packages of Tutti only: its names may change in every version. */
export type { TuttiProviderProps } from './client-context.ts'
export { useServerConnection } from './use-server-connection.ts'
export type { ThreadsSettings, ThreadsView } from './use-threads.ts'
export type { ThreadSettings } from './use-thread.ts'
export {
  type FeedReader,
  followServer,
  type NotedEvent,
  type ServerConnection,
} from './server-feed.ts'
export type { LiveThreadRun, ThreadState } from './thread-store.ts'
