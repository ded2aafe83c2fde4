/** Reads the event streams of runs as text, as a client without a parser sees them. */
import { setTimeout as sleep } from 'node:timers/promises'

/** A live stream. */
export interface RawStream {
  readonly runId: string
  readonly events: readonly RawEvent[]
}

/** An event as text, and the time at which it arrived, in milliseconds since 1970. */
export interface RawEvent {
  readonly id: string
  readonly text: string
  readonly at: number
}

/** The reply to a read of all events of a run. */
export interface StoredText {
  readonly runId: string
  /** HTTP status. */
  readonly status: number
  /** Text of each event, by its id. */
  readonly texts: ReadonlyMap<string, string>
}

/** Maximum time of a read, in milliseconds; a live stream then continues over a new connection. */
const READ_MS = 30_000

/** Delay before a stream is continued, in milliseconds. */
const AGAIN_MS = 200

/** Reads a stream until it ends or the connection breaks; passes each event with its id on. Returns the HTTP status. */
async function readOnce(
  url: string,
  { runId, lastId, signal }: { runId: string; lastId?: string; signal?: AbortSignal },
  onEvent: (id: string, text: string) => void,
): Promise<number> {
  const response = await fetch(`${url}/api/runs/${runId}/events`, {
    headers: {
      accept: 'text/event-stream',
      ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
    },
    signal: AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(READ_MS)]),
  })
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel()
    return response.status
  }
  let rest = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + chunk).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const id = /^id: (.*)$/m.exec(frame)?.[1]
      if (id !== undefined) onEvent(id, frame)
    }
  }
  return response.status
}

/**
 * Follows a run to its end, over any number of connections. Returns undefined if the signal aborted before, or the run or
 * its newest events are not stored.
 */
export async function followRaw(
  urls: readonly string[],
  runId: string,
  signal: AbortSignal,
): Promise<RawStream | undefined> {
  const events: RawEvent[] = []
  for (let number = 0; !signal.aborted; number += 1) {
    const url = urls[number % urls.length] ?? ''
    const lastId = events.at(-1)?.id
    const from = { runId, signal, ...(lastId === undefined ? {} : { lastId }) }
    const status = await readOnce(url, from, (id, text) => {
      events.push({ id, text, at: Date.now() })
    }).catch(() => 0)
    if (events.at(-1)?.text.includes('\nevent: run_result\n') === true) return { runId, events }
    if (status === 404 || status === 409) return undefined
    await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined)
  }
  return undefined
}

/** Reads all stored events of a run that has ended or does not exist. */
export async function readStored(url: string, runId: string): Promise<StoredText> {
  const texts = new Map<string, string>()
  const status = await readOnce(url, { runId }, (id, text) => texts.set(id, text))
  return { runId, status, texts }
}
