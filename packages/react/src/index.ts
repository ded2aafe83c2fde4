/**
 * `@tutti/react`: hooks that show the runs, reviews and threads of a Tutti server, live.
 */
export { TuttiProvider, useTuttiClient, type TuttiProviderProps } from './client-context.ts'
export { useServerConnection } from './use-server-connection.ts'
export { useRun } from './use-run.ts'
export { useRuns } from './use-runs.ts'
export { useThreads, type ThreadsSettings, type ThreadsView } from './use-threads.ts'
export { useReviews, type ReviewsView } from './use-reviews.ts'
export {
  useThread,
  type ThreadSettings,
  type ThreadSubmission,
  type ThreadView,
} from './use-thread.ts'
export type { LiveRun } from './follow-events.ts'
export {
  followServer,
  type FeedReader,
  type NotedEvent,
  type ServerConnection,
} from './server-feed.ts'
export type { ListView } from './list-store.ts'
export type { LiveThreadRun, ThreadState } from './thread-store.ts'
