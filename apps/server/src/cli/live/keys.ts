/** The keyboard while the view is on the screen: keys come one by one and are not shown. */
import { ReadStream } from 'node:tty'

import type { CommandIo } from '../command-io.ts'

/** A key: what it types, or its name. */
export type Key = 'ctrl-c' | 'ctrl-z' | 'escape' | (string & {})

const NAMES: ReadonlyMap<string, Key> = new Map([
  ['\x03', 'ctrl-c'],
  ['\x1a', 'ctrl-z'],
  ['\x1b', 'escape'],
])

/** Listens to the keyboard, or to nothing where there is none. */
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

  /** Gives the keyboard back, as it was. */
  close(): void {
    if (!this.#isOpen || this.#stdin === undefined) return
    this.#isOpen = false
    this.#stdin.off('data', this.#read)
    this.#stdin.setRawMode(false)
    this.#stdin.pause()
  }

  readonly #read = (data: Buffer | string): void => {
    const text = data.toString()
    // The code of an arrow or a function key begins as Escape does, and is none of the keys here.
    const keys = text.startsWith('\x1b') && text.length > 1 ? [] : [...text]
    for (const key of keys) this.#listener(NAMES.get(key) ?? key)
  }
}

/** Time after which a program that was told to stop and still runs will not be stopped. */
const STOP_MS = 200

/**
 * Stops this process with its whole group, as the terminal would: what has started it waits for it otherwise. Calls
 * `goOn` once when it runs again. That is soon where no shell could let it go on, as in the first program of a window
 * or of a container: there the system passes the signal over (POSIX, orphaned process groups).
 *
 * @returns what to call when going on is of no use any more
 */
export function stopJob(goOn: () => void): () => void {
  const forget = (): void => {
    clearTimeout(timer)
    process.off('SIGCONT', resume)
  }
  const resume = (): void => {
    forget()
    goOn()
  }
  const timer = setTimeout(resume, STOP_MS)
  process.on('SIGCONT', resume)
  process.kill(0, 'SIGTSTP')
  return forget
}
