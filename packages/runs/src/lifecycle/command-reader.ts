/**
 * Reads pending commands one read at a time. A read returns all commands of its runs with their data, so one for each command
 * would cost the square of their number.
 */
import type { CommandQueue, PendingCommand } from '../ports/command-queue.ts'

/** Parts that a command reader needs. */
export interface CommandReaderOptions {
  readonly commands: Pick<CommandQueue, 'pending'>
  /** Receives each command that was read. */
  readonly deliver: (pending: PendingCommand) => void
}

/** Reads the pending commands of runs. Runs that are requested during a read wait for the next one. */
export class CommandReader {
  readonly #options: CommandReaderOptions
  readonly #requested = new Set<string>()
  #reading: Promise<void> | undefined

  constructor(options: CommandReaderOptions) {
    this.#options = options
  }

  /** Delivers the pending commands of these runs. Rejects when the store cannot be read. */
  read(runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) this.#requested.add(runId)
    this.#reading ??= this.#readRequested().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readRequested(): Promise<void> {
    const { commands, deliver } = this.#options
    while (this.#requested.size > 0) {
      const runIds = [...this.#requested]
      this.#requested.clear()
      for (const pending of await commands.pending(runIds)) deliver(pending)
    }
  }
}
