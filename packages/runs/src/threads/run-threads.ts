/**
 * Threads: conversations that consist of runs.
 *
 * RUNS-H6 A run gets the messages of the newest earlier runs of its thread that fit `maxHistoryRuns` and
 *    `maxHistoryBytes`, oldest first. The messages of one run are never separated.
 * RUNS-H7 A run is one message of the user (`toUserMessage`) and one of the assistant: the output of its output task. A
 * run that failed or was cancelled before that output has its text so far, if it wrote any.
 * RUNS-H8 The messages are stored with the run, so that it gets the same ones after a crash.
 */
import { isDeepStrictEqual } from 'node:util'

import { newId } from '@tutti/core/internal'
import { isTerminalRunStatus } from '@tutti/protocol'
import { toHistoryMessages, type HistoryMessage, type RunMessages } from '@tutti/protocol/internal'

import { field } from '../domain/field.ts'
import { assertTagSize } from '../request/tag-size.ts'
import { threadExists } from '../domain/refusals.ts'
import { readTextSoFar } from './text-so-far.ts'

import type { RunStorage } from '../ports/run-storage.ts'
import type {
  CreatedThread,
  DeletedThread,
  ThreadQuery,
  ThreadRunQuery,
} from '../ports/thread-store.ts'
import type { NewRun, NewThreadRun } from '../domain/run-record.ts'
import type { NewThread, ThreadRecord, ThreadRunRecord } from '../domain/thread-record.ts'

/** Limits of the messages that a run gets. */
export interface HistoryLimits {
  readonly maxHistoryRuns: number
  readonly maxHistoryBytes: number
}

/** A run of a thread, as messages. */
export interface ThreadRunMessages
  extends RunMessages, Omit<ThreadRunRecord, 'userMessage' | 'output' | 'outputTask'> {}

/** A page of the runs of a thread as messages. */
export interface ThreadMessagesPage {
  readonly runs: readonly ThreadRunMessages[]
  readonly hasMore: boolean
}

/** The earlier runs of a thread, as a new one needs them. */
interface ThreadHistory {
  /** The newest run; undefined for a thread without runs. */
  readonly newest: Pick<ThreadRunRecord, 'runId' | 'number' | 'status'> | undefined
  readonly history: readonly HistoryMessage[]
}

/** The threads of a store. */
export class RunThreads {
  readonly #storage: Pick<RunStorage, 'threads' | 'events'>
  readonly #limits: HistoryLimits

  constructor(storage: Pick<RunStorage, 'threads' | 'events'>, limits: HistoryLimits) {
    this.#storage = storage
    this.#limits = limits
  }

  /**
   * Creates a thread. A thread that exists with the same title and tags is returned.
   *
   * @throws {TuttiError} THREAD_EXISTS when it has others; BAD_REQUEST for tags that are too large.
   */
  async create({
    threadId = newId('thread'),
    ...more
  }: Omit<NewThread, 'threadId'> & Partial<Pick<NewThread, 'threadId'>>): Promise<CreatedThread> {
    assertTagSize(more.tags)
    const created = await this.#storage.threads.create({ threadId, ...more })
    const { title, tags } = created.thread
    const isSame = title === more.title && isDeepStrictEqual({ ...tags }, { ...more.tags })
    if (!created.isNew && !isSame) throw threadExists(threadId)
    return created
  }

  /** Returns a thread; undefined when the id is unknown. */
  get(threadId: string): Promise<ThreadRecord | undefined> {
    return this.#storage.threads.get(threadId)
  }

  /**
   * Replaces the tags of a thread. Returns it, or undefined when the id is unknown.
   *
   * @throws {TuttiError} BAD_REQUEST for tags that are too large.
   */
  setTags(threadId: string, tags: ThreadRecord['tags']): Promise<ThreadRecord | undefined> {
    assertTagSize(tags)
    return this.#storage.threads.setTags(threadId, tags)
  }

  /** Returns a page of threads, the one with the newest submission first. */
  list(query: ThreadQuery): Promise<readonly ThreadRecord[]> {
    return this.#storage.threads.list(query)
  }

  /** Returns a page of the runs of a thread as messages. */
  async runs(query: ThreadRunQuery): Promise<ThreadMessagesPage> {
    const { runs, hasMore } = await this.#storage.threads.runs(query)
    return { runs: await Promise.all(runs.map((run) => this.#toMessages(run))), hasMore }
  }

  /** Deletes a thread without runs. */
  delete(threadId: string): Promise<DeletedThread> {
    return this.#storage.threads.delete(threadId)
  }

  /** Returns a new run with the messages of the earlier runs of its thread. */
  async addHistory(run: NewRun, thread: NewThreadRun): Promise<NewRun> {
    const { newest, history } = await this.#readHistory(thread.threadId)
    return {
      ...run,
      thread: {
        ...thread,
        number: (newest?.number ?? 0) + 1,
        ...field(
          'follows',
          newest && isTerminalRunStatus(newest.status) ? newest.runId : undefined,
        ),
      },
      ...(history.length === 0 ? {} : { request: { ...run.request, history } }),
    }
  }

  /** Returns the messages for the next run of a thread. A thread that does not exist has none. */
  async #readHistory(threadId: string): Promise<ThreadHistory> {
    const { maxHistoryRuns, maxHistoryBytes: maxBytes } = this.#limits
    // One run at least, for its number.
    const limit = Math.max(1, maxHistoryRuns)
    const { runs } = await this.runs({ threadId, limit, maxBytes })
    // Without the comma after the last message, and with two brackets.
    let room = maxBytes - 1
    const fitting: HistoryMessage[][] = []
    for (const run of runs.slice(0, maxHistoryRuns)) {
      const messages = [...toHistoryMessages(run)]
      room -= messages.reduce((sum, message) => sum + countBytes(message), 0)
      if (room < 0) break
      fitting.push(messages)
    }
    return { newest: runs[0], history: fitting.toReversed().flat() }
  }

  async #toMessages(run: ThreadRunRecord): Promise<ThreadRunMessages> {
    const { output, outputTask: _, ...more } = run
    const isCut = output === undefined && isTerminalRunStatus(run.status)
    const text = isCut ? await readTextSoFar(this.#storage.events, run) : output
    return { ...more, ...field('assistantMessage', text) }
  }
}

/** Returns the size of a message in the conversation, as JSON with its comma. */
function countBytes(message: HistoryMessage): number {
  return Buffer.byteLength(JSON.stringify(message)) + 1
}
