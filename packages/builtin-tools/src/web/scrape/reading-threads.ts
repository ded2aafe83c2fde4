/**
 * Reads HTML in separate threads: a hostile page can take seconds and hundreds of megabytes, and would block the whole
 * process.
 *
 *   page ─turn─▶ thread, idle or new ─▶ text
 *                  └─ limit of time or memory, abort ─▶ the thread ends, the page fails
 *
 * TOOLS-R1 At most `maxThreads` pages are read at the same time; others wait in order.
 * TOOLS-R2 A page that takes too long or too much memory ends its thread and fails; other pages are not affected.
 * TOOLS-R3 An idle thread does not keep the process alive, and ends after `idleMs`.
 */
import { Worker } from 'node:worker_threads'

import { createLimiter, type Limiter } from '@tutti/core'

import type { HtmlPage, ReadHtmlOptions } from './read-html.ts'

export interface ReadingLimits {
  readonly maxThreads: number
  /** Time limit for one page, in milliseconds, including the start of a thread if none is idle. */
  readonly timeoutMs: number
  /** Heap limit of one thread, in MiB. */
  readonly maxHeapMiB: number
  /** Idle time after which a thread ends, in milliseconds. */
  readonly idleMs: number
}

/** Message to a thread. */
interface Task {
  readonly html: string
  readonly options: ReadHtmlOptions
}

/** The program of a thread, with the module of `readHtml` as its data. An error ends it. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads')
const reading = import(workerData)
parentPort.on('message', async ({ html, options }) => {
  const { readHtml } = await reading
  parentPort.postMessage(await readHtml(html, options))
})`

/** A thread that waits for a page. */
interface IdleThread {
  readonly thread: Worker
  readonly ending: NodeJS.Timeout
}

/** Threads that read pages. */
export class ReadingThreads {
  readonly #limits: ReadingLimits
  readonly #turns: Limiter
  readonly #idle: IdleThread[] = []

  constructor(limits: ReadingLimits) {
    this.#limits = limits
    this.#turns = createLimiter({ maxConcurrent: limits.maxThreads })
  }

  /**
   * Returns the text of a page.
   *
   * @throws {Error} when the page takes too long or too much memory.
   * @throws the reason of `signal` when it aborts.
   */
  async read(html: string, options: ReadHtmlOptions, signal: AbortSignal): Promise<HtmlPage> {
    const module = await import('./read-html.ts')
    // In an application's bundle this module may be the whole program, which must not run again in a thread.
    if (!OWN_MODULE.test(module.MODULE_URL)) return module.readHtml(html, options)
    await this.#turns.acquire(signal)
    try {
      const thread = this.#acquire(module.MODULE_URL)
      const page = await this.#readIn(thread, { html, options }, signal)
      this.#release(thread)
      return page
    } finally {
      this.#turns.release()
    }
  }

  #acquire(moduleUrl: string): Worker {
    const idle = this.#idle.pop()
    if (idle === undefined) {
      const { maxHeapMiB } = this.#limits
      return new Worker(PROGRAM, {
        eval: true,
        workerData: moduleUrl,
        resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
        // A thread does not need the environment and the flags of the process.
        env: {},
        execArgv: [],
      })
    }
    clearTimeout(idle.ending)
    forgetListeners(idle.thread)
    idle.thread.ref()
    return idle.thread
  }

  #readIn(thread: Worker, task: Task, signal: AbortSignal): Promise<HtmlPage> {
    const { timeoutMs, maxHeapMiB } = this.#limits
    return new Promise<HtmlPage>((resolve, reject) => {
      const timer = setTimeout(() => {
        fail(new Error(`reading the page took longer than ${timeoutMs} ms`))
      }, timeoutMs)
      const onAbort = (): void => {
        fail(signal.reason)
      }
      const settle = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
      }
      const fail = (reason: unknown): void => {
        settle()
        reject(reason)
        void thread.terminate()
      }
      signal.addEventListener('abort', onAbort)
      // NOTE: the thread posts only pages.
      thread.on('message', (page: HtmlPage) => {
        settle()
        resolve(page)
      })
      thread.on('error', (error: Error & { readonly code?: string }) => {
        const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        fail(isMemory ? new Error(`reading the page took more than ${maxHeapMiB} MiB`) : error)
      })
      if (signal.aborted) onAbort()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is not a window
      else thread.postMessage(task)
    })
  }

  #release(thread: Worker): void {
    forgetListeners(thread)
    thread.unref()
    const forget = (): void => {
      const at = this.#idle.findIndex((idle) => idle.thread === thread)
      if (at !== -1) this.#idle.splice(at, 1)
    }
    // An error without a listener would end the process.
    thread.on('error', forget)
    thread.on('exit', forget)
    const ending = setTimeout(() => {
      forget()
      void thread.terminate()
    }, this.#limits.idleMs).unref()
    this.#idle.push({ thread, ending })
  }
}

/** Removes the listeners of a page; those that Node added for itself stay. */
function forgetListeners(thread: Worker): void {
  for (const event of ['message', 'error', 'exit']) thread.removeAllListeners(event)
}

/** The module of `readHtml`, as a source and as a part of the built package. */
const OWN_MODULE = /\/read-html[\w-]*\.[jt]s$/
