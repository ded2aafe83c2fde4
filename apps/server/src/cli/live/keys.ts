/** Reads single keys without echo while the live view is shown. */
import { ReadStream } from 'node:tty'

import type { CommandIo } from '../../terminal/command-io.ts'

/** A typed character, or the name of a key. */
export type Key = 'ctrl-c' | 'ctrl-z' | 'escape' | (string & {})

const NAMES: ReadonlyMap<string, Key> = new Map([
  ['\x03', 'ctrl-c'],
  ['\x1a', 'ctrl-z'],
  ['\x1b', 'escape'],
])

/** Listens to the keyboard, if there is one. */
export class Keys {
  readonly #stdin: ReadStream | undefined
  readonly #listener: (key: Key) => void
  #isOpen = false

  constructor({ stdin }: Pick<CommandIo, 'stdin'>, listener: (key: Key) => void) {
    this.#stdin = stdin instanceof ReadStream ? stdin : undefined
    this.#listener = listener
  }

  open(): void {
    if (this.#isOpen || this.#stdin === undefined) return
    this.#isOpen = true
    this.#stdin.setRawMode(true)
    this.#stdin.on('data', this.#read)
    this.#stdin.resume()
  }

  /** Stops listening and restores the keyboard mode. */
  close(): void {
    if (!this.#isOpen || this.#stdin === undefined) return
    this.#isOpen = false
    this.#stdin.off('data', this.#read)
    this.#stdin.setRawMode(false)
    this.#stdin.pause()
  }

  readonly #read = (data: Buffer | string): void => {
    const text = data.toString()
    // Arrow and function keys send sequences that start with Escape; they are ignored.
    const keys = text.startsWith('\x1b') && text.length > 1 ? [] : [...text]
    for (const key of keys) this.#listener(NAMES.get(key) ?? key)
  }
}

/** Time in milliseconds; a process still running after it will not be suspended. */
const STOP_MS = 200

/**
 * Suspends this process with its whole process group, as the terminal does; otherwise its parent would wait for it.
 * Calls `onContinue` once when it runs again. That is soon if no shell can continue it, as for the first process of a
 * window or of a container: there the system ignores the signal (POSIX, orphaned process groups).
 *
 * @returns a function that prevents the call
 */
export function stopJob(onContinue: () => void): () => void {
  const forget = (): void => {
    clearTimeout(timer)
    process.off('SIGCONT', resume)
  }
  const resume = (): void => {
    forget()
    onContinue()
  }
  const timer = setTimeout(resume, STOP_MS)
  process.on('SIGCONT', resume)
  process.kill(0, 'SIGTSTP')
  return forget
}
