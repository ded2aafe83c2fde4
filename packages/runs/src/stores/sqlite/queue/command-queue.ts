/** Queues commands for the owners of runs, in the embedded store. */
import { readUnownedSteps } from '../../../domain/refusals.ts'
import { sqliteRecords } from '../rows/rows.ts'

import type { RunCommand } from '@tutti/protocol'
import type {
  CommandAnswer,
  CommandQueue,
  PendingCommand,
  SentCommand,
} from '../../../ports/command-queue.ts'
import type { SqliteParts } from '../rows/parts.ts'

/** The command queue over an open database. */
export class SqliteCommandQueue implements CommandQueue {
  readonly #parts: SqliteParts

  constructor(parts: SqliteParts) {
    this.#parts = parts
  }

  async send(runId: string, command: RunCommand): Promise<SentCommand | undefined> {
    const { hub: board, transaction } = this.#parts
    const sent = transaction(() => this.#send(runId, command))
    if (sent?.kind === 'sent') board.notify([{ kind: 'command', runId }])
    return sent
  }

  async pending(runIds: readonly string[]): Promise<readonly PendingCommand[]> {
    const rows = this.#parts.statements.run(
      `SELECT command_id, command, run_id FROM commands JOIN runs ON runs.id = run
       WHERE run_id = ANY($1::text[]) AND answer IS NULL ORDER BY n`,
      [runIds],
    )
    return sqliteRecords.pendingCommands(rows)
  }

  async answer(commandId: string): Promise<CommandAnswer | undefined> {
    const [row] = this.#parts.statements.run(
      'SELECT answer FROM commands WHERE command_id = $1 AND answer IS NOT NULL',
      [commandId],
    )
    // NOTE: a cast at the boundary: this store only ever writes answers.
    return row === undefined ? undefined : (JSON.parse(String(row['answer'])) as CommandAnswer)
  }

  #send(runId: string, command: RunCommand): SentCommand | undefined {
    const { rows, statements } = this.#parts
    const found = rows.find(runId)
    if (found === undefined) return undefined
    const { id, run, token, state } = found
    if (state === 'ended') return { kind: 'ended', run }
    if (state !== 'owned') {
      return { kind: 'unowned', run, token, ...readUnownedSteps(runId, () => rows.steps(id)) }
    }
    const commandId = crypto.randomUUID()
    statements.run('INSERT INTO commands (command_id, run, command) VALUES ($1, $2, $3)', [
      commandId,
      id,
      JSON.stringify(command),
    ])
    if (command.kind === 'cancel') {
      statements.run(`UPDATE runs SET status = 'CANCELLING' WHERE id = $1`, [id])
    }
    return { kind: 'sent', commandId }
  }
}
