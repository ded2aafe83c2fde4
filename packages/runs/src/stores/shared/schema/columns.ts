/** Pure: the forms of columns, and the conversion of fields to column values. */
import type { JsonType } from '../column-reader.ts'

/**
 * The form of a column:
 *
 * | form | value |
 * | --- | --- |
 * | row | row id of a run |
 * | id | an id, or a name that identifies something |
 * | text | a text that a person, a model or a tool wrote |
 * | key | such a text that is only compared for equality |
 * | word | a text of a fixed set, such as a status |
 * | data | JSON that is already serialized |
 * | integer, count, amount | a number: an integer of 32 bits, any integer, any number |
 * | time | milliseconds since 1970, by the clock of a process |
 *
 * The other forms are JSON.
 */
export type ColumnForm =
  | 'row'
  | 'id'
  | 'text'
  | 'key'
  | 'word'
  | 'data'
  | 'integer'
  | 'count'
  | 'amount'
  | 'time'
  | JsonType

/** Forms of columns that are only written with records: also fencing tokens, and flags, which are true or false. */
export type WrittenForm = ColumnForm | 'token' | 'flag'

/** Columns by the field that they store: `startedAt` is in the column `started_at`. */
export type Columns<Form extends WrittenForm = ColumnForm> = Readonly<Record<string, Form>>

/** Form of the texts of a store. */
export interface StoredTexts {
  /** Decodes an id. */
  readonly id: (stored: string) => unknown
  /** Decodes a text that a person, a model or a tool wrote. */
  readonly text: (stored: string) => unknown
  /** Returns the inside of a JSON string from the first part of such a text. */
  readonly inside: (start: string) => string
  /** Encode texts of these forms. */
  readonly encode: Readonly<Record<'id' | 'text' | 'key', (text: string) => string>>
}

/** A declared column and the field that it stores. */
export interface DeclaredColumn<Form extends WrittenForm = ColumnForm> {
  readonly field: string
  readonly name: string
  readonly form: Form
}

const declared = new WeakMap<object, readonly DeclaredColumn<WrittenForm>[]>()

/** Returns the columns in the order of their declaration. */
export function listColumns<Form extends WrittenForm>(
  columns: Columns<Form>,
): readonly DeclaredColumn<Form>[] {
  // NOTE: a list has the forms of its declaration.
  const known = declared.get(columns) as readonly DeclaredColumn<Form>[] | undefined
  if (known !== undefined) return known
  const listed = Object.entries<Form>(columns).map(([field, form]) => {
    return { field, name: toColumnName(field), form }
  })
  declared.set(columns, listed)
  return listed
}

const names = new Map<string, string>()

/** Returns the column of a field. */
export function toColumnName(field: string): string {
  const known = names.get(field)
  if (known !== undefined) return known
  const name = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  names.set(field, name)
  return name
}

/** Returns the names of the columns in the order of their declaration. */
export function listColumnNames(columns: Columns<WrittenForm>): readonly string[] {
  return listColumns(columns).map(({ name }) => name)
}

/** Returns the column value of a field; NULL for undefined and null. */
export function encodeField(texts: StoredTexts, form: WrittenForm, value: unknown): unknown {
  if (value === undefined || value === null) return null
  switch (form) {
    case 'id':
    case 'text':
    case 'key':
      // NOTE: a cast at the boundary: the field of such a column is a text.
      return texts.encode[form](value as string)
    case 'an object':
    case 'a text':
    case 'a list of texts':
      return JSON.stringify(value)
    default:
      return value
  }
}

/** Returns the column values of a record, in the order of the columns. */
export function encodeRow(
  texts: StoredTexts,
  columns: Columns<WrittenForm>,
  record: Readonly<Record<string, unknown>>,
): readonly unknown[] {
  return listColumns(columns).map(({ field, form }) => encodeField(texts, form, record[field]))
}
