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
