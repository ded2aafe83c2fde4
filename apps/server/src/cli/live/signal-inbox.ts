/**
 * The signals of one command, from its beginning to its end. Listening stops and starts nowhere in between: a signal that
 * comes at such a moment would be lost, or would end the process.
 */
import type { CommandIo } from '../command-io.ts'

type Signal = 'SIGINT' | 'SIGTERM'

/** Keeps signals until somebody listens. */
export class SignalInbox implements Disposable {
  readonly #stop: () => void
  readonly #lastAt = new Map<Signal, number>()
  #kept: Signal[] = []
  #listener: ((signal: Signal) => void) | undefined

  constructor(io: Pick<CommandIo, 'onSignal'>) {
    this.#stop = io.onSignal((signal) => this.#receive(signal))
  }

  /** Gives the signals to `listener` from now on, those that were kept first. */
  listen(listener: (signal: Signal) => void): void {
    this.#listener = listener
    const kept = this.#kept
    this.#kept = []
    for (const signal of kept) listener(signal)
  }

  /** Keeps a signal for the next who listens. */
  keep(signal: Signal): void {
    this.#kept.push(signal)
  }

  /** Keeps all that come until somebody listens again. */
  hold(): void {
    this.#listener = undefined
  }

  [Symbol.dispose](): void {
    this.#stop()
  }

  #receive(signal: Signal): void {
    const now = performance.now()
    const isSame = now - (this.#lastAt.get(signal) ?? -Infinity) < ONE_SIGNAL_MS
    if (isSame) return
    this.#lastAt.set(signal, now)
    if (this.#listener === undefined) this.keep(signal)
    else this.#listener(signal)
  }
}

/** Signals so close together are one, in milliseconds: Ctrl-C reaches a process by its terminal and by its parents. */
export const ONE_SIGNAL_MS = 500
