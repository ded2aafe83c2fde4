/** A complete use of a server. It runs in Node and in a page, and must have the same result in both. */
import {
  createClient,
  TuttiClientError,
  type TuttiClient,
  type TuttiConnection,
} from '@tutti/client'

/** A server, and functions to control it during the story. */
export interface StoryParts {
  readonly baseUrl: string
  readonly apiKey: string
  /** Cuts every connection. */
  cut(): Promise<void>
  /** Resolves when call `n` of the waiting tool has begun. */
  untilWaiting(n: number): Promise<void>
  /** Releases the waiting tool, now and for later calls. */
  play(): Promise<void>
}

/** The result of the story, which must be the same in Node and in a page. */
export type StoryEnd = Readonly<Record<string, unknown>>

const BACH = { inputs: { composer: 'Bach' } }

/** Runs the story. */
export async function tellStory(parts: StoryParts): Promise<StoryEnd> {
  const { baseUrl, apiKey } = parts
  const client = createClient({ baseUrl, apiKey, reconnect: { baseDelayMs: 1 } })
  const connection = client.connect()
  const end = {
    refused: await refused(client),
    cancelled: await cancelled(client, parts),
    followed: await followed(client, connection, parts),
    reviewed: await reviewed(client, connection),
    tool: await client.tools.invoke('add', { a: 2, b: 3 }),
    listed: (await client.runs.list({ tag: 'by:story' })).total,
    drained: await client.drain(),
  }
  await connection.close()
  return JSON.parse(JSON.stringify(end, withoutTime))
}

/** Removes ids and times, which differ in each run. */
function withoutTime(key: string, value: unknown): unknown {
  return ['durationMs', 'requestId', 'reviewId'].includes(key) ? undefined : value
}

async function refused({ runs }: TuttiClient): Promise<unknown> {
  try {
    return await runs.submit({
      ensemble: 'band',
      inputs: { composer: 'Bach' },
      tags: {},
      runId: '',
    })
  } catch (error) {
    if (!TuttiClientError.isInstance(error)) throw error
    return [error.code, error.problems?.map(({ path }) => path)]
  }
}

async function cancelled({ runs }: TuttiClient, { untilWaiting }: StoryParts): Promise<unknown> {
  const { runId } = await runs.submit(BACH)
  await untilWaiting(1)
  await runs.cancel(runId)
  return (await runs.result(runId)).status
}

/** Follows one run over an event stream and a WebSocket at once, and cuts both while the run works. */
async function followed(
  { runs }: TuttiClient,
  connection: TuttiConnection,
  { cut, untilWaiting, play }: StoryParts,
): Promise<unknown> {
  const { runId } = await runs.submit({ ...BACH, tags: { by: 'story' } })
  await untilWaiting(2)
  const told: string[] = []
  const opened = defer()
  const resumed = defer()
  const events = runs.events(runId, {
    onConnection({ status }) {
      told.push(status)
      if (status === 'open') (told.length === 1 ? opened : resumed).open()
    },
  })
  const streamed = collect(events)
  const socketed = collect(connection.subscribe({ runId }))
  await opened.passed
  await connection.hello()
  await cut()
  await resumed.passed
  await connection.hello()
  await play()
  const [stream, socket] = [await streamed, await socketed]
  return {
    told,
    isWhole: stream.every(({ seq }, index) => seq === index),
    isSame: JSON.stringify(stream) === JSON.stringify(socket),
    last: stream.at(-1)?.type,
    outputs: (await runs.result(runId)).outputs,
  }
}

/** A promise, and the function that resolves it. */
function defer() {
  let open = (): void => undefined
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), passed }
}

async function collect(
  events: AsyncIterable<{ readonly seq: number; readonly type: string }>,
): Promise<{ readonly seq: number; readonly type: string }[]> {
  const collected = []
  for await (const event of events) collected.push(event)
  return collected
}

async function reviewed(client: TuttiClient, connection: TuttiConnection): Promise<unknown> {
  const { runId } = await client.runs.submit({ ensemble: 'panel', ...BACH })
  const asked = connection.subscribe({ runId, events: ['review_requested'] })
  for await (const { reviewId } of asked) {
    const decision = { decision: 'EDIT', revisedOutput: 'Better' } as const
    await client.reviews.decide(reviewId, decision, { over: connection })
    break
  }
  const { status, outputs } = await client.runs.result(runId)
  return { status, outputs }
}
