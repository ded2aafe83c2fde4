/**
 * The client that measures all servers: persistent connections, and a number of concurrent loops that each send a
 * request when the previous one has its result.
 *
 * A run has ended for the client when its result has arrived. The rest of its stream is read during the next run,
 * so late stream ends do not delay a server.
 */
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'

import type { AskedRequest, RecordedResponse, ServerProduct } from './server-products.ts'

/** Extent of a measurement: a number of runs or a time; the first limit counts. */
export interface LoadBounds {
  readonly runs: number
  readonly forMs: number
}

/** Times of runs, in milliseconds, and runs per second. */
export interface LoadFigures {
  readonly firstMs: readonly number[]
  readonly resultMs: readonly number[]
  readonly perSecond: number
}

/** Runs that arrive independently of each other. */
export interface Arrivals {
  readonly perSecond: number
  readonly forMs: number
}

/** Times of runs that arrived independently, and of small requests meanwhile, in milliseconds. */
export interface ArrivalFigures {
  readonly resultMs: readonly number[]
  readonly probeMs: readonly number[]
}

/** Used parts of undici. */
interface Undici {
  readonly Pool: new (origin: string, options: object) => Pool
}

interface Pool {
  request(options: object): Promise<{
    readonly statusCode: number
    readonly headers: RecordedResponse['headers']
    readonly body: Body
  }>
  destroy(): Promise<void>
}

interface Body extends AsyncIterable<Buffer> {
  text(): Promise<string>
}

/** Enough for the widest load, with streams that end late. */
const CONNECTIONS = 400

/** Arrivals of a server that cannot keep up wait from this number of unfinished runs on. */
const MAX_UNFINISHED = 200

/** Interval of the small requests that show how long the server keeps others waiting. */
const PROBE_EVERY_MS = 5

/** A client of one server; disposing closes its connections. */
export class LoadClient implements AsyncDisposable {
  readonly #product: ServerProduct
  readonly #pool: Pool

  constructor(product: ServerProduct, url: string) {
    const require = createRequire(
      new URL('../../../packages/remote-tools/package.json', import.meta.url),
    )
    // NOTE: undici exports this class.
    const { Pool: UndiciPool } = require('undici') as Undici
    this.#product = product
    this.#pool = new UndiciPool(url, { connections: CONNECTIONS, pipelining: 1 })
  }

  /**
   * Executes runs, `width` at a time.
   *
   * @throws {Error} when one does not have the expected result.
   */
  async makeRuns(width: number, { runs, forMs }: LoadBounds): Promise<LoadFigures> {
    const firstMs: number[] = []
    const resultMs: number[] = []
    const rests: Promise<unknown>[] = []
    const startedAt = performance.now()
    let begun = 0
    const worker = async (): Promise<void> => {
      while (begun < runs && performance.now() - startedAt < forMs) {
        begun += 1
        const run = await this.#makeRun()
        firstMs.push(run.firstMs)
        resultMs.push(run.resultMs)
        rests.push(run.rest)
      }
    }
    await Promise.all(Array.from({ length: width }, worker))
    const perSecond = (resultMs.length * 1_000) / (performance.now() - startedAt)
    await Promise.all(rests)
    return { firstMs, resultMs, perSecond }
  }

  /**
   * Starts runs at random times, independently of each other, and meanwhile sends a small request every
   * {@link PROBE_EVERY_MS}.
   *
   * @throws {Error} when a run does not have the expected result.
   */
  async makeArrivals({ perSecond, forMs }: Arrivals): Promise<ArrivalFigures> {
    const resultMs: number[] = []
    const probeMs: number[] = []
    const unfinished = new Set<Promise<void>>()
    const startedAt = performance.now()
    const isOver = (): boolean => performance.now() - startedAt >= forMs
    const probe = async (): Promise<void> => {
      while (!isOver()) {
        const askedAt = performance.now()
        const { body } = await this.#request({ method: 'GET', path: this.#product.readyPath })
        await body.text()
        probeMs.push(performance.now() - askedAt)
        await sleep(PROBE_EVERY_MS)
      }
    }
    const arrive = async (): Promise<void> => {
      let next = startedAt
      while (!isOver()) {
        if (unfinished.size >= MAX_UNFINISHED) await Promise.race(unfinished)
        const run = this.#makeRun().then(async ({ resultMs: ms, rest }) => {
          resultMs.push(ms)
          await rest
        })
        unfinished.add(run)
        void run.finally(() => unfinished.delete(run)).catch(() => undefined)
        next += (-Math.log(1 - Math.random()) * 1_000) / perSecond
        await sleep(Math.max(0, next - performance.now()))
      }
      await Promise.all(unfinished)
    }
    await Promise.all([probe(), arrive()])
    return { resultMs, probeMs }
  }

  /** Executes one run and returns its response. */
  async recordRun(): Promise<RecordedResponse> {
    const { statusCode, headers, body } = await this.#request(this.#product.submit())
    return { status: statusCode, headers, body: await body.text() }
  }

  /**
   * Calls the tool directly, one call after another; returns milliseconds of each. Undefined when the server
   * has no address for it, and a text when it has one that does not work.
   */
  async callTool({ runs, forMs }: LoadBounds): Promise<readonly number[] | string | undefined> {
    const { tool } = this.#product
    if (tool === undefined) return undefined
    const times: number[] = []
    const startedAt = performance.now()
    while (times.length < runs && performance.now() - startedAt < forMs) {
      const askedAt = performance.now()
      const { statusCode, body } = await this.#request(tool)
      const text = await body.text()
      if (statusCode === 501 || statusCode === 404) return `status ${statusCode}`
      if (!text.includes('2 tea')) throw new Error(`The tool gave ${text}`)
      times.push(performance.now() - askedAt)
    }
    return times
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy()
  }

  async #makeRun(): Promise<{
    readonly firstMs: number
    readonly resultMs: number
    /** Reads the stream to its end. */
    readonly rest: Promise<unknown>
  }> {
    const { submit, stream, first, result, proof, name } = this.#product
    const startedAt = performance.now()
    let { statusCode, body } = await this.#request(submit())
    if (stream !== undefined) {
      ;({ statusCode, body } = await this.#request(stream(await body.text())))
    }
    let firstMs: number | undefined
    let text = ''
    const chunks = body[Symbol.asyncIterator]()
    for (;;) {
      const chunk = await chunks.next()
      if (chunk.done === true) break
      text += chunk.value.toString()
      if (firstMs === undefined && text.includes(first)) firstMs = performance.now() - startedAt
      if (text.includes(result)) {
        const resultMs = performance.now() - startedAt
        if (!proof.every((part) => text.includes(part))) break
        return { firstMs: firstMs ?? resultMs, resultMs, rest: readToEnd(chunks) }
      }
    }
    throw new Error(`${name} did not make the run: status ${statusCode}, ${text.slice(0, 2_000)}`)
  }

  #request({ method, path, body, accept }: AskedRequest): ReturnType<Pool['request']> {
    const headers = {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(accept === undefined ? {} : { accept }),
    }
    return this.#pool.request({
      method,
      path,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }
}

async function readToEnd(chunks: AsyncIterator<Buffer>): Promise<void> {
  while ((await chunks.next()).done !== true) continue
}
