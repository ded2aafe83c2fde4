/** Creates threads on behalf of callers. */
import { actorOf, type Caller } from '../caller.ts'
import { assertMayReadThread } from './run-rights.ts'

import type { RunService } from '@tutti/runs'

type NewThread = Parameters<RunService['threads']['create']>[0]

/**
 * Creates a thread. A thread that exists with the same title and tags is returned.
 *
 * @throws {TuttiError} as `RunThreads.create`; FORBIDDEN for an existing thread that the caller may not read.
 */
export async function createThreadAs(
  runs: Pick<RunService, 'threads' | 'list'>,
  thread: Omit<NewThread, 'actor'>,
  caller: Caller,
): ReturnType<RunService['threads']['create']> {
  const { threadId } = thread
  // Before the title and the tags are compared, which shows whether they are the same.
  if (threadId !== undefined) await assertMayReadThread(runs, threadId, caller)
  const created = await runs.threads.create({ ...thread, ...actorOf(caller) })
  // Another request may have created it meanwhile.
  if (!created.isNew) await assertMayReadThread(runs, created.thread.threadId, caller)
  return created
}
