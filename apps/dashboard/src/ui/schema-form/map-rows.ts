/** Rows of names and values that are edited as an object. Pure. */

/** A row; `key` is stable while the others are edited. */
export interface MapRow {
  readonly key: number
  readonly name: string
  /** A number or a boolean stays one until it is edited as text. */
  readonly value: unknown
}

/** The object of rows, or the reason why they are none. */
export type CheckedRows =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly why: string }

/** Converts rows to an object. Rows without a name and a value are omitted. */
export function checkRows(rows: readonly MapRow[]): CheckedRows {
  const named = rows.filter(({ name }) => name !== '')
  if (rows.some(({ name, value }) => name === '' && value !== '')) {
    return { ok: false, why: 'has a value without a name' }
  }
  const names = named.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined) return { ok: false, why: `contains "${twice}" twice` }
  return { ok: true, value: Object.fromEntries(named.map(({ name, value }) => [name, value])) }
}
