/** Takes wishes to the owners of runs in the embedded store. */
import { toAnswer, toSignal } from './rows.ts'

import type { RunSignals, RunWish, SentSignal, Signal, SignalAnswer } from '../ports/run-signals.ts'
import type { SqliteParts } from './sqlite-parts.ts'
import type { StatementSync } from 'node:sqlite'

/** The signals over an open database. */
export class SqliteRunSignals implements RunSignals {
  readonly #parts: SqliteParts
  readonly #insert: StatementSync
  readonly #setCancelling: StatementSync
  readonly #pending: StatementSync
  readonly #answer: StatementSync

  constructor(parts: SqliteParts) {
    const { database } = parts
    this.#parts = parts
    this.#insert = database.prepare('INSERT INTO signals (signal_id, run, wish) VALUES (?, ?, ?)')
    this.#setCancelling = database.prepare(`UPDATE runs SET status = 'CANCELLING' WHERE id = ?`)
    this.#pending = database.prepare(
      `SELECT signal_id, wish, run_id FROM signals JOIN runs ON runs.id = run
       WHERE run_id IN (SELECT value FROM json_each(?)) AND answer IS NULL ORDER BY n`,
    )
    this.#answer = database.prepare(
      'SELECT answer FROM signals WHERE signal_id = ? AND answer IS NOT NULL',
    )
  }

  async send(runId: string, wish: RunWish): Promise<SentSignal | undefined> {
    const { board, transaction } = this.#parts
    const sent = transaction(() => this.#send(runId, wish))
    if (sent?.kind === 'sent') board.tell([{ kind: 'signal', runId }])
    return sent
  }

  async pending(runIds: readonly string[]): Promise<readonly Signal[]> {
    return this.#pending.all(JSON.stringify(runIds)).map(toSignal)
  }

  async answer(signalId: string): Promise<SignalAnswer | undefined> {
    const row = this.#answer.get(signalId)
    return row === undefined ? undefined : toAnswer(row)
  }

  #send(runId: string, wish: RunWish): SentSignal | undefined {
    const { rows } = this.#parts
    const found = rows.find(runId)
    if (found === undefined) return undefined
    const { id, run, state } = found
    if (state === 'ended') return { kind: 'ended', run }
    if (state !== 'owned') return { kind: 'at_rest', run, steps: rows.steps(id) }
    const signalId = crypto.randomUUID()
    this.#insert.run(signalId, id, JSON.stringify(wish))
    if (wish.kind === 'cancel') this.#setCancelling.run(id)
    return { kind: 'sent', signalId }
  }
}
