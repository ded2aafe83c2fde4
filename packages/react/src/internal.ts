/** For the other packages of Tutti only: its names may change in every version. */
export type { TuttiProviderProps } from './client-context.ts'
export type { ThreadsSettings, ThreadsView } from './use-threads.ts'
export type { ThreadSettings } from './use-thread.ts'
export type { LiveThreadRun, ThreadState } from './thread-store.ts'
