/** Records the statements that this process sends to Postgres, for tests. */
import { Client } from 'pg'

/** A statement, or several sent as one. */
export interface RecordedStatement {
  readonly text: string
  /** Its parameters. */
  readonly values: readonly unknown[]
  readonly isInTransaction: boolean
}

/** Records the statements of all connections of this process until `stop` is called. */
export function recordStatements() {
  const statements: RecordedStatement[] = []
  const open = new WeakSet<object>()
  let unanswered = 0
  // NOTE: the overloads of the driver's method have no common type.
  const prototype = Client.prototype as unknown as { query: (...given: unknown[]) => unknown }
  const { query } = prototype
  prototype.query = function recorded(this: object, ...given) {
    const [first] = given as [string | { readonly text: string; readonly values?: unknown[] }]
    const { text, values = [] } = typeof first === 'string' ? { text: first } : first
    if (text.startsWith('BEGIN')) open.add(this)
    statements.push({ text, values, isInTransaction: open.has(this) })
    if (text === 'COMMIT' || text === 'ROLLBACK') open.delete(this)
    const answer = query.apply(this, given)
    if (answer instanceof Promise) {
      unanswered += 1
      const onAnswer = (): void => {
        unanswered -= 1
      }
      answer.then(onAnswer, onAnswer)
    }
    return answer
  }
  return {
    statements,
    /** Whether every statement so far has its answer. */
    areAnswered: () => unanswered === 0,
    /** Number of statements except notifications, which are sent later than the commits that they are about. */
    countTrips: () => statements.filter(({ text }) => !text.includes('pg_notify')).length,
    stop: () => {
      prototype.query = query
    },
  }
}
