/**
 * `@tutti/react`: hooks that show the runs, reviews and threads of a Tutti server, live.
 */
export { TuttiProvider, useTuttiClient } from './client-context.ts'
export { useRun } from './use-run.ts'
export { useRuns } from './use-runs.ts'
export { useThreads } from './use-threads.ts'
export { useReviews, type ReviewsView } from './use-reviews.ts'
export { type ThreadSubmission, type ThreadView, useThread } from './use-thread.ts'
export type { LiveRun } from './follow-events.ts'
export type { ListView } from './list-store.ts'
