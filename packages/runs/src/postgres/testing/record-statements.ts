/** Records the statements that this process sends to Postgres, for tests. */
import { Client } from 'pg'

/** A statement, or several sent as one. */
export interface RecordedStatement {
  readonly text: string
  readonly isInTransaction: boolean
}

/** Records the statements of all connections of this process until `stop` is called. */
export function recordStatements() {
  const statements: RecordedStatement[] = []
  const open = new WeakSet<object>()
  // NOTE: the overloads of the driver's method have no common type.
  const prototype = Client.prototype as unknown as { query: (...given: unknown[]) => unknown }
  const { query } = prototype
  prototype.query = function recorded(this: object, ...given) {
    const [first] = given as [string | { readonly text: string }]
    const text = typeof first === 'string' ? first : first.text
    if (text.startsWith('BEGIN')) open.add(this)
    statements.push({ text, isInTransaction: open.has(this) })
    if (text === 'COMMIT' || text === 'ROLLBACK') open.delete(this)
    return query.apply(this, given)
  }
  return {
    statements,
    stop: () => {
      prototype.query = query
    },
  }
}
