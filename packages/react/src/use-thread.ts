/** Follows a conversation, and continues it. */
import { isTerminalRunStatus, type SubmitRunBody } from '@tutti/protocol'
import { useCallback, useMemo } from 'react'

import { useTuttiClient } from './client-context.ts'
import { useLiveStore } from './live-store.ts'
import { createThreadStore, type ThreadState } from './thread-store.ts'
import { catchError } from './to-error.ts'

/** Settings of {@link useThread}. */
export interface ThreadSettings {
  /** Number of the newest runs that are shown. @default 50 */
  readonly limit?: number
}

/** A run to continue a thread with. */
export type ThreadSubmission = Omit<SubmitRunBody, 'threadId' | 'history'>

/** A thread, and the functions that change it. */
export interface ThreadView extends ThreadState {
  /** Whether the newest run has not ended; another one would be refused with THREAD_BUSY. */
  readonly isBusy: boolean
  /** Submits the next run. Resolves when it is durable; returns the error of a submission that failed. */
  send(run: ThreadSubmission): Promise<Error | undefined>
  /** Cancels the newest run. Returns the error of a cancel that failed. */
  cancel(): Promise<Error | undefined>
}

/** Returns a thread, which changes with the events of its newest run, also of one that was submitted elsewhere. */
export function useThread(threadId: string, { limit }: ThreadSettings = {}): ThreadView {
  const client = useTuttiClient()
  const store = useMemo(() => createThreadStore(client, threadId, limit), [client, threadId, limit])
  const state = useLiveStore(store)
  const newest = state.runs.at(-1)
  const isBusy = newest !== undefined && !isTerminalRunStatus(newest.status)
  const runId = newest?.runId
  const send = useCallback(
    async (run: ThreadSubmission) => {
      const error = await catchError(() => client.runs.submit({ ...run, threadId }))
      store.refresh()
      return error
    },
    [client, store, threadId],
  )
  const cancel = useCallback(
    async () => (runId === undefined ? undefined : catchError(() => client.runs.cancel(runId))),
    [client, runId],
  )
  return useMemo(() => ({ ...state, isBusy, send, cancel }), [state, isBusy, send, cancel])
}
