/**
 * Receives the signals of one command, from its start to its end. It listens without a gap: a signal in a gap would be
 * lost, or would end the process.
 */
import type { CommandIo } from './command-io.ts'

type Signal = 'SIGINT' | 'SIGTERM'

/** Queues signals until a listener is set. */
export class SignalInbox implements Disposable {
  readonly #stop: () => void
  readonly #lastAt = new Map<Signal, number>()
  #queue: Signal[] = []
  #listener: ((signal: Signal) => void) | undefined

  constructor(io: Pick<CommandIo, 'onSignal'>) {
    this.#stop = io.onSignal((signal) => this.#receive(signal))
  }

  /** Passes the signals to `listener` from now on, queued ones first. */
  listen(listener: (signal: Signal) => void): void {
    this.#listener = listener
    const queued = this.#queue
    this.#queue = []
    for (const signal of queued) listener(signal)
  }

  /** Queues a signal for the next listener. */
  enqueue(signal: Signal): void {
    this.#queue.push(signal)
  }

  /** Queues signals until `listen` is called again. */
  hold(): void {
    this.#listener = undefined
  }

  [Symbol.dispose](): void {
    this.#stop()
  }

  #receive(signal: Signal): void {
    const now = performance.now()
    const isRepeated = now - (this.#lastAt.get(signal) ?? -Infinity) < ONE_SIGNAL_MS
    if (isRepeated) return
    this.#lastAt.set(signal, now)
    if (this.#listener === undefined) this.enqueue(signal)
    else this.#listener(signal)
  }
}

/** Time within which repeated signals count as one, in milliseconds: Ctrl-C arrives from the terminal and from parents. */
export const ONE_SIGNAL_MS = 500
