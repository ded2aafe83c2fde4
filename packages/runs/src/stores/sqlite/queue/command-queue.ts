/** Queues commands for the owners of runs, in the embedded store. */
import { readUnownedSteps } from '../../../domain/refusals.ts'
import { sqliteRecords, toAnswer } from '../rows/rows.ts'

import type { RunCommand } from '@tutti/protocol'
import type {
  CommandAnswer,
  CommandQueue,
  PendingCommand,
  SentCommand,
} from '../../../ports/command-queue.ts'
import type { SqliteParts } from '../rows/parts.ts'
import type { StatementSync } from 'node:sqlite'

/** The command queue over an open database. */
export class SqliteCommandQueue implements CommandQueue {
  readonly #parts: SqliteParts
  readonly #insert: StatementSync
  readonly #setCancelling: StatementSync
  readonly #pending: StatementSync
  readonly #answer: StatementSync

  constructor(parts: SqliteParts) {
    const { database } = parts
    this.#parts = parts
    this.#insert = database.prepare(
      'INSERT INTO commands (command_id, run, command) VALUES (?, ?, ?)',
    )
    this.#setCancelling = database.prepare(`UPDATE runs SET status = 'CANCELLING' WHERE id = ?`)
    this.#pending = database.prepare(
      `SELECT command_id, command, run_id FROM commands JOIN runs ON runs.id = run
       WHERE run_id IN (SELECT value FROM json_each(?)) AND answer IS NULL ORDER BY n`,
    )
    this.#answer = database.prepare(
      'SELECT answer FROM commands WHERE command_id = ? AND answer IS NOT NULL',
    )
  }

  async send(runId: string, command: RunCommand): Promise<SentCommand | undefined> {
    const { hub: board, transaction } = this.#parts
    const sent = transaction(() => this.#send(runId, command))
    if (sent?.kind === 'sent') board.notify([{ kind: 'command', runId }])
    return sent
  }

  async pending(runIds: readonly string[]): Promise<readonly PendingCommand[]> {
    return sqliteRecords.pendingCommands(this.#pending.all(JSON.stringify(runIds)))
  }

  async answer(commandId: string): Promise<CommandAnswer | undefined> {
    const row = this.#answer.get(commandId)
    return row === undefined ? undefined : toAnswer(row)
  }

  #send(runId: string, command: RunCommand): SentCommand | undefined {
    const { rows } = this.#parts
    const found = rows.find(runId)
    if (found === undefined) return undefined
    const { id, run, token, state } = found
    if (state === 'ended') return { kind: 'ended', run }
    if (state !== 'owned') {
      return { kind: 'unowned', run, token, ...readUnownedSteps(runId, () => rows.steps(id)) }
    }
    const commandId = crypto.randomUUID()
    this.#insert.run(commandId, id, JSON.stringify(command))
    if (command.kind === 'cancel') this.#setCancelling.run(id)
    return { kind: 'sent', commandId }
  }
}
