/** Pure: reads the fields of a record from its columns. */
import {
  listColumns,
  type Columns,
  type DeclaredColumn,
  type StoredTexts,
} from './schema/columns.ts'

import type { ColumnReader } from './column-reader.ts'

/**
 * Returns the fields of the columns that a row has. Damaged columns are left out (RUNS-P14).
 *
 * NOTE: callers cast the result to the record: stores only ever write values of the types that they read back.
 */
export function readFields(
  columns: ColumnReader,
  texts: StoredTexts,
  declared: Columns,
): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {}
  for (const column of listColumns(declared)) {
    const value = readField(columns, texts, column)
    if (value !== undefined) fields[column.field] = value
  }
  return fields
}

function readField(
  columns: ColumnReader,
  texts: StoredTexts,
  { name: column, form }: DeclaredColumn,
): unknown {
  switch (form) {
    case 'id':
      return columns.text(column, texts.id)
    case 'text':
      return columns.text(column, texts.text)
    case 'key':
    case 'word':
    case 'data':
      return columns.text(column, asStored)
    case 'row':
    case 'integer':
    case 'count':
      return columns.count(column)
    case 'amount':
      return columns.amount(column)
    case 'time':
      return columns.time(column)
    default:
      return columns.json(column, form)
  }
}

function asStored(stored: string): string {
  return stored
}
