/**
 * One request and its answer over undici, without redirects. It is built on `dispatch`, below the
 * streams and promises of undici's `request`, and so costs less than that.
 *
 * E1 What is over the limit is not read: the connection is closed instead.
 * E2 An abort ends the exchange at once, at whatever stage, and closes its connection.
 */
import { inflateBody } from './inflate-body.ts'

import type { Dispatcher } from 'undici'

/** Where a request goes, taken apart. */
export interface HttpTarget {
  readonly url: URL
  readonly origin: string
  /** Path and query. */
  readonly path: string
}

/** Takes a URL apart. */
export function toTarget(url: URL): HttpTarget {
  return { url, origin: url.origin, path: url.pathname + url.search }
}

/** What is sent. */
export interface HttpRequest {
  readonly target: HttpTarget
  readonly method: string
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
}

/** Headers of an answer by name in lower case; a list where a server sends one several times. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** What came back, read. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  /** The body, decompressed. */
  readonly body: Buffer
  /** Whether the body goes on after what is here. */
  readonly truncated: boolean
}

/** The value of a header; what was sent several times is joined with commas. */
export function headerOf(
  { headers }: Pick<HttpAnswer, 'headers'>,
  name: string,
): string | undefined {
  const value = headers[name]
  return typeof value === 'object' ? value.join(', ') : value
}

/** Through what a request is made, and its bounds. */
export interface ExchangeOptions {
  readonly dispatcher: Dispatcher
  readonly signal: AbortSignal
  readonly maxBytes: number
}

/** Makes a request; rejects with what undici says, or with the signal's reason. */
export function exchange(
  { target, method, headers, body }: HttpRequest,
  { dispatcher, signal, maxBytes }: ExchangeOptions,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason)
      return
    }
    const collector = new Collector(signal, maxBytes, { resolve, reject })
    signal.addEventListener('abort', collector, { once: true })
    const { origin, path } = target
    dispatcher.dispatch({ origin, path, method, headers, body: body ?? null }, collector)
  })
}

/** What came back, as it came. */
interface RawAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly chunks: readonly Buffer[]
  readonly truncated: boolean
}

function answerOf(
  { status, headers, chunks, truncated }: RawAnswer,
  maxBytes: number,
): HttpAnswer | Promise<HttpAnswer> {
  const [only] = chunks
  const whole = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
  const body = whole.byteLength > maxBytes ? whole.subarray(0, maxBytes) : whole
  const coding = headers['content-encoding']
  if (coding === undefined || body.byteLength === 0) return { status, headers, body, truncated }
  return inflateBody(body, { coding: String(coding), maxBytes }).then((inflated) => ({
    status,
    headers,
    body: inflated.body,
    truncated: truncated || inflated.truncated,
  }))
}

interface Settle {
  readonly resolve: (answer: HttpAnswer | Promise<HttpAnswer>) => void
  readonly reject: (reason: unknown) => void
}

/** Gathers one answer, as undici tells of it. */
class Collector implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal
  readonly #maxBytes: number
  readonly #settle: Settle
  readonly #chunks: Buffer[] = []
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #headers: AnswerHeaders = {}
  #size = 0

  constructor(signal: AbortSignal, maxBytes: number, settle: Settle) {
    this.#signal = signal
    this.#maxBytes = maxBytes
    this.#settle = settle
  }

  /** The signal has aborted. A request that is not under way yet is ended as it begins. */
  handleEvent(): void {
    this.#settle.reject(this.#signal.reason)
    this.#controller?.abort(asError(this.#signal.reason))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#signal.aborted) controller.abort(asError(this.#signal.reason))
  }

  /** Also told of answers that only announce another one, such as 103. */
  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: AnswerHeaders,
  ): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.byteLength
    if (this.#size <= this.#maxBytes) return
    this.#finish(true)
    controller.abort(new Error('The answer is longer than what is read of it'))
  }

  onResponseEnd(): void {
    this.#finish(false)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#signal.removeEventListener('abort', this)
    this.#settle.reject(error)
  }

  #finish(truncated: boolean): void {
    this.#signal.removeEventListener('abort', this)
    const [status, headers, chunks] = [this.#status, this.#headers, this.#chunks]
    this.#settle.resolve(answerOf({ status, headers, chunks, truncated }, this.#maxBytes))
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('The request was aborted')
}
