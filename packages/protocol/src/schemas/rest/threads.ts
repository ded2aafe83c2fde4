/** Threads: durable conversations, each an ordered list of runs. */
import Type from 'typebox'
import { RunStatus } from '../enums.ts'
import { CLOSED, Count, Instant, ListCursor, RunId, TagMap, Title } from '../scalars.ts'

import type { Static } from '../../static.ts'

/** Body of `POST /api/threads`. A repeated request with the same body returns the existing thread. */
export const CreateThreadBody = Type.Object(
  {
    /** Id chosen by the client; the server generates one when absent. */
    threadId: Type.Optional(RunId),
    /** Title for people. */
    title: Type.Optional(Title),
    /** Metadata by which the thread can be found. */
    tags: Type.Optional(TagMap),
  },
  CLOSED,
)
export type CreateThreadBody = Static<typeof CreateThreadBody>

/** Conversation that consists of runs; each knows the messages of the earlier ones. */
export const Thread = Type.Object({
  /** Id of the thread. */
  threadId: Type.String(),
  /** Title for people. */
  title: Type.Optional(Type.String()),
  /** Tags of the thread. */
  tags: TagMap,
  createdAt: Instant,
  /** Time at which its newest run was submitted; for a thread without one, the time at which it was created. */
  updatedAt: Instant,
  /** Name of the key that created the thread. */
  createdBy: Type.Optional(Type.String()),
  /** Number of its stored runs. */
  runCount: Count,
  /** Its newest run; absent when it has none. */
  newestRun: Type.Optional(Type.Object({ runId: Type.String(), status: RunStatus })),
  /** Reason why a part of the stored record cannot be read; the fields of that part are empty. Absent when all can be. */
  unreadable: Type.Optional(Type.String()),
})
export type Thread = Static<typeof Thread>

/** Query of `GET /api/threads`. */
export const ListThreadsQuery = Type.Object(
  {
    /** `key`, or `key:value`. */
    tag: Type.Optional(Type.String({ minLength: 1 })),
    /** Maximum number of threads; 100 when absent. */
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    /** `nextCursor` of the page before. A thread that gets a run meanwhile moves to the first page. */
    cursor: Type.Optional(ListCursor),
  },
  CLOSED,
)
export type ListThreadsQuery = Static<typeof ListThreadsQuery>

/** Response of `GET /api/threads`: one page, the thread with the newest submission first. A page ends early at 1 MB. */
export const ThreadList = Type.Object({
  threads: Type.Array(Thread),
  /** Cursor of the next page; absent on the last one. */
  nextCursor: Type.Optional(Type.String()),
})
export type ThreadList = Static<typeof ThreadList>

/** Query of `GET /api/threads/{threadId}/runs`. */
export const ThreadRunsQuery = Type.Object(
  {
    /** Maximum number of runs; 50 when absent. */
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    /** `nextCursor` of the page before. */
    cursor: Type.Optional(ListCursor),
  },
  CLOSED,
)
export type ThreadRunsQuery = Static<typeof ThreadRunsQuery>

/** Run of a thread, as messages. */
export const ThreadRun = Type.Object({
  /** Id of the run. */
  runId: Type.String(),
  status: RunStatus,
  /** Name of the ensemble. */
  ensemble: Type.String(),
  /** Time at which the run was accepted. */
  submittedAt: Instant,
  /** Time at which the run ended. */
  completedAt: Type.Optional(Instant),
  /** Reason of the failure; the first 300 characters. */
  error: Type.Optional(Type.String()),
  /** The run as a message of the user: its only input, else all inputs as JSON, else the description of its first task. */
  userMessage: Type.String(),
  /** Output of its output task, or of a run that ended without one the text so far; absent when there is none. */
  assistantMessage: Type.Optional(Type.String()),
  /** Reason why a part of the stored record cannot be read; the fields of that part are empty. Absent when all can be. */
  unreadable: Type.Optional(Type.String()),
})
export type ThreadRun = Static<typeof ThreadRun>

/**
 * Response of `GET /api/threads/{threadId}/runs`: one page, newest first. A page ends early at 1 MB; the next page begins
 * at `nextCursor`.
 */
export const ThreadRunList = Type.Object({
  runs: Type.Array(ThreadRun),
  /** Cursor of the next page; absent on the last one. */
  nextCursor: Type.Optional(Type.String()),
})
export type ThreadRunList = Static<typeof ThreadRunList>
