/**
 * Requests the events of the run in the URL before the scripts of the page have loaded, so that the server reads them
 * meanwhile. The client later takes the response instead of sending the same request.
 */
import { readStoredKey } from './stored-key.ts'

/** Maximum size of the events that wait for the scripts, in bytes; the server waits with the rest. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024

interface EarlyRequest {
  readonly url: string
  readonly response: Promise<Response>
  readonly abort: () => void
}

let early: EarlyRequest | undefined

/** Sends the request if the page is that of a run. */
export function requestEarly(): void {
  const [, runId] = /^#\/runs\/([^/?]+)/.exec(location.hash) ?? []
  if (runId === undefined) return
  const key = readStoredKey()
  const leaving = new AbortController()
  const url = resolveUrl(`api/runs/${runId}/events?repeats=omit`)
  const response = fetch(url, {
    headers: {
      accept: 'text/event-stream',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    signal: leaving.signal,
  }).then(readAhead)
  // The client repeats a failed request.
  response.catch(() => {
    early = undefined
  })
  early = { url, response, abort: () => leaving.abort() }
  addEventListener('hashchange', dropEarlyRequest, { once: true })
}

/** Returns the response of the early request if `url` is the same; each response is taken once. */
export function takeEarlyResponse(url: string, init: RequestInit): Promise<Response> | undefined {
  if (early === undefined || resolveUrl(url) !== early.url) return undefined
  const { response, abort } = early
  early = undefined
  init.signal?.addEventListener('abort', abort)
  return response
}

/** Ends a request that the client did not take, because the reader has left the run. */
function dropEarlyRequest(): void {
  early?.abort()
  early = undefined
}

/** Reads the body at once, so that the browser does not hold it up until someone reads it. */
function readAhead(response: Response): Response {
  const waiting = new TransformStream<Uint8Array, Uint8Array>(
    undefined,
    undefined,
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES }),
  )
  const { status, statusText, headers, body } = response
  return new Response(body?.pipeThrough(waiting), { status, statusText, headers })
}

function resolveUrl(url: string): string {
  return new URL(url, document.baseURI).href
}
