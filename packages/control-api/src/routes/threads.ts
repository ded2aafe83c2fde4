/** Creates, lists, inspects and deletes threads. */
import { ROUTES, type Thread } from '@tutti/protocol'
import {
  CreateThreadBody,
  ListThreadsQuery,
  ThreadRunsQuery,
  type ThreadList,
  type ThreadRunList,
} from '@tutti/protocol/internal'
import {
  createThreadAs,
  deleteThread,
  type HttpRoute,
  largeResponse,
  readJsonBody,
} from '@tutti/gateway/internal'
import { threadNotFound } from '@tutti/runs/internal'

import { readQuery } from '../http/read-query.ts'
import { parseTag, takeFitting } from '../runs/list-runs.ts'
import { toThread, toThreadRun } from '../runs/to-wire.ts'

import type { ResolvedControlApiOptions } from '../options.ts'

/** Default number of threads on a page. */
const DEFAULT_THREADS = 100

/** Default number of runs on a page. */
const DEFAULT_RUNS = 50

/** Size of the texts of a page of runs after which it ends, in bytes. */
const MAX_TEXT_BYTES = 1_000_000

/** Returns the routes below `/api/threads`. */
export function threadRoutes(options: ResolvedControlApiOptions): readonly HttpRoute[] {
  const { runs, reads, maxBodyBytes, redactor } = options
  return [
    {
      ...ROUTES.createThread,
      async handle({ request, caller, addSubject }) {
        const { tags = {}, ...body } = await readJsonBody(request, CreateThreadBody, maxBodyBytes)
        if (body.threadId !== undefined) addSubject({ target: body.threadId })
        const { isNew, thread } = await createThreadAs(runs, { ...body, tags }, caller)
        addSubject({ target: thread.threadId })
        return Response.json(toThread(redactor.value(thread)), {
          status: isNew ? 201 : 200,
          headers: { location: `/api/threads/${encodeURIComponent(thread.threadId)}` },
        })
      },
    },
    {
      ...ROUTES.listThreads,
      async handle({ request }) {
        const query = readQuery(request.url, ListThreadsQuery)
        return largeResponse(reads, request, () => listThreads(options, query))
      },
    },
    {
      ...ROUTES.getThread,
      async handle({ parameters: { threadId = '' } }) {
        return Response.json(await readThread(options, threadId))
      },
    },
    {
      ...ROUTES.listThreadRuns,
      async handle({ request, parameters: { threadId = '' } }) {
        const query = readQuery(request.url, ThreadRunsQuery)
        return largeResponse(reads, request, () => listThreadRuns(options, threadId, query))
      },
    },
    {
      ...ROUTES.deleteThread,
      async handle({ caller, addSubject, parameters: { threadId = '' } }) {
        addSubject({ target: threadId })
        await deleteThread(options, threadId, caller)
        return new Response(null, { status: 204 })
      },
    },
  ]
}

async function listThreads(
  { runs, redactor }: Pick<ResolvedControlApiOptions, 'runs' | 'redactor'>,
  { tag, limit = DEFAULT_THREADS, cursor }: ListThreadsQuery,
): Promise<ThreadList> {
  // One more than the page holds shows whether there is another page.
  const found = await runs.threads.list({
    limit: limit + 1,
    ...(tag === undefined ? {} : { tag: parseTag(tag) }),
    ...(cursor === undefined ? {} : { before: Number(cursor) }),
  })
  const page = takeFitting(found.slice(0, limit).map((thread) => toThread(redactor.value(thread))))
  const last = found[page.length - 1]
  return {
    threads: page,
    ...(last === undefined || page.length === found.length
      ? {}
      : { nextCursor: String(last.place) }),
  }
}

async function readThread(
  { runs, redactor }: Pick<ResolvedControlApiOptions, 'runs' | 'redactor'>,
  threadId: string,
): Promise<Thread> {
  const thread = await runs.threads.get(threadId)
  if (thread === undefined) throw threadNotFound(threadId)
  return toThread(redactor.value(thread))
}

async function listThreadRuns(
  { runs, redactor }: Pick<ResolvedControlApiOptions, 'runs' | 'redactor'>,
  threadId: string,
  { limit = DEFAULT_RUNS, cursor }: ThreadRunsQuery,
): Promise<ThreadRunList> {
  const { runs: page, hasMore } = await runs.threads.runs({
    threadId,
    limit,
    maxBytes: MAX_TEXT_BYTES,
    ...(cursor === undefined ? {} : { before: Number(cursor) }),
  })
  const last = page.at(-1)
  if (last === undefined && (await runs.threads.get(threadId)) === undefined) {
    throw threadNotFound(threadId)
  }
  return {
    runs: page.map((run) => toThreadRun(redactor.value(run))),
    ...(last === undefined || !hasMore ? {} : { nextCursor: String(last.number) }),
  }
}
