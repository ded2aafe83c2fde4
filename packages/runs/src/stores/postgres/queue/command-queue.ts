/** Queues commands for the owners of runs, over Postgres. */
import { readUnownedSteps } from '../../../domain/refusals.ts'
import { loadValues } from '../log/load-values.ts'
import { toOwnerChannel } from '../notifications/notifications.ts'
import { postgresRecords } from '../rows/rows.ts'
import { readStep } from '../../shared/read-records.ts'
import { toColumn } from '../database/text.ts'

import type { RunCommand } from '@tutti/protocol'
import type {
  CommandAnswer,
  CommandQueue,
  PendingCommand,
  SentCommand,
} from '../../../ports/command-queue.ts'
import type { DatabaseSession } from '../database/database.ts'
import type { PostgresParts } from '../rows/parts.ts'

/** A queued command, and the owner of its run. */
interface QueuedCommand {
  readonly kind: 'sent'
  readonly commandId: string
  readonly owner: unknown
}

/** The command queue of a Postgres store. */
export class PostgresCommandQueue implements CommandQueue {
  readonly #parts: PostgresParts

  constructor(parts: PostgresParts) {
    this.#parts = parts
  }

  async send(runId: string, command: RunCommand): Promise<SentCommand | undefined> {
    const { requests, notifications, carrier, sharedChannel } = this.#parts
    const text = JSON.stringify(command)
    const sent = await requests.transaction({}, (session) =>
      this.#send(session, { runId, text, cancels: command.kind === 'cancel' }),
    )
    if (sent?.kind !== 'sent') return sent
    const channel = toOwnerChannel(sent.owner) ?? sharedChannel
    const notification = { kind: 'command', runId } as const
    if (channel === notifications.channel || channel === sharedChannel) {
      notifications.notify([notification])
    }
    carrier.send([{ channel, notification }])
    return { kind: 'sent', commandId: sent.commandId }
  }

  async pending(runIds: readonly string[]): Promise<readonly PendingCommand[]> {
    if (runIds.length === 0) return []
    const { database } = this.#parts
    const rows = await database.query(
      `SELECT commands.*, run_id FROM ${database.schema}.commands JOIN ${database.schema}.runs
         ON runs.id = run
       WHERE run_id = ANY($1) AND answer IS NULL ORDER BY commands.id`,
      [runIds.map(toColumn)],
    )
    return postgresRecords.pendingCommands(rows)
  }

  async answer(commandId: string): Promise<CommandAnswer | undefined> {
    const { requests } = this.#parts
    const [row] = await requests.query(
      `SELECT answer FROM ${requests.schema}.commands WHERE command_id = $1 AND answer IS NOT NULL`,
      [toColumn(commandId)],
    )
    // NOTE: a cast at the boundary: this store only ever writes answers.
    return row === undefined ? undefined : (JSON.parse(String(row['answer'])) as CommandAnswer)
  }

  /** Holds the lock of the run, so that a concurrent release of the run sees the command. */
  async #send(
    session: DatabaseSession,
    { runId, text, cancels }: { runId: string; text: string; cancels: boolean },
  ): Promise<QueuedCommand | Exclude<SentCommand, { kind: 'sent' }> | undefined> {
    const [row] = await session.query(
      `SELECT * FROM ${session.schema}.runs WHERE run_id = $1 FOR UPDATE`,
      [toColumn(runId)],
    )
    if (row === undefined) return undefined
    const { id, run, token, state } = postgresRecords.runRow(row)
    if (state === 'ended') return { kind: 'ended', run }
    if (state !== 'owned') {
      const steps = await session.query(
        `SELECT data FROM ${session.schema}.steps WHERE run = $1 ORDER BY n`,
        [id],
      )
      const reader = await loadValues({ runId, session }, steps)
      const read = readUnownedSteps(runId, () => steps.map((step) => readStep(reader, step)))
      return { kind: 'unowned', run, token, ...read }
    }
    const commandId = crypto.randomUUID()
    await session.query(
      `WITH queued AS (
         INSERT INTO ${session.schema}.commands (run, command_id, command, reply_channel)
         VALUES ($1, $2, $3, $5)
       )
       UPDATE ${session.schema}.runs
       SET commands = commands + 1, status = CASE WHEN $4 THEN 'CANCELLING' ELSE status END
       WHERE id = $1`,
      [id, commandId, text, cancels, this.#parts.notifications.channel],
    )
    return { kind: 'sent', commandId, owner: row['owner'] }
  }
}
