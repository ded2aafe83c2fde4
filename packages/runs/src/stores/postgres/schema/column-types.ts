/** The types of columns in Postgres. */
import type { WrittenForm } from '../../shared/schema/columns.ts'

/** The type of the columns of each form. */
export const COLUMN_TYPES: Readonly<Record<WrittenForm, string>> = {
  row: 'int8',
  id: 'text',
  text: 'text',
  key: 'text',
  word: 'text',
  data: 'text',
  integer: 'int4',
  count: 'float8',
  amount: 'float8',
  time: 'float8',
  token: 'uuid',
  flag: 'bool',
  'an object': 'text',
  'a text': 'text',
  'a list of texts': 'text',
}
