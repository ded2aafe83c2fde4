/**
 * Reads the columns of one row of a store. A column that is damaged (invalid JSON, a number or a date that cannot be
 * represented, a value of another type) is left out and named with its reason, so that one damaged row does not make a
 * reader of many rows fail (RUNS-P14). No I/O.
 */
import { errorMessage } from '@tutti/core/basics'
import { isJsonObject } from '@tutti/protocol/basics'

/** A row by column, as the driver returns it. */
export type StoredRow = Readonly<Record<string, unknown>>

/** Greatest distance of a `Date` from 1970, in milliseconds. */
const MAX_DATE_MS = 8.64e15

/** The reader of one row. */
export class ColumnReader {
  readonly #row: StoredRow
  readonly #damaged: string[] = []

  constructor(row: StoredRow) {
    this.#row = row
  }

  /** The damaged columns that were read, with the reasons; no field when there is none. */
  get unreadable(): { readonly unreadable?: string } {
    return this.#damaged.length === 0 ? {} : { unreadable: this.#damaged.join('; ') }
  }

  /** Returns the text of a column; undefined for NULL and for a damaged one. */
  text(column: string, decode: (stored: string) => unknown): string | undefined {
    return this.#read(column, (stored) => {
      if (typeof stored !== 'string') throw new TypeError(`expected text, got ${typeof stored}`)
      const text = decode(stored)
      if (typeof text !== 'string') throw new TypeError(`expected text, got ${typeof text}`)
      return text
    })
  }

  /** Returns the integer of a column; undefined for NULL and for a damaged one. */
  count(column: string): number | undefined {
    return this.#read(column, (stored) => {
      const count = Number(stored)
      if (Number.isSafeInteger(count)) return count
      throw new RangeError(`expected a safe integer, got ${String(stored)}`)
    })
  }

  /** Returns the amount of a column; undefined for NULL and for a damaged one. */
  amount(column: string): number | undefined {
    return this.#read(column, (stored) => {
      const amount = Number(stored)
      if (Number.isFinite(amount)) return amount
      throw new RangeError(`expected a number, got ${String(stored)}`)
    })
  }

  /** Returns the time of a column in milliseconds since 1970; undefined for NULL and for a damaged one. */
  time(column: string): number | undefined {
    return this.#read(column, (stored) => {
      const ms = Number(stored)
      if (Math.abs(ms) <= MAX_DATE_MS) return ms
      throw new RangeError(`expected a time in milliseconds, got ${String(stored)}`)
    })
  }

  /** Returns the JSON value of a column if it has the type; undefined for NULL and for a damaged one. */
  json(column: string, type: JsonType): unknown {
    return this.#read(column, (stored) => {
      if (typeof stored !== 'string') throw new TypeError(`expected JSON, got ${typeof stored}`)
      const value: unknown = JSON.parse(stored)
      if (JSON_TYPES[type](value)) return value
      throw new TypeError(`expected ${type}`)
    })
  }

  #read<T>(column: string, convert: (stored: unknown) => T): T | undefined {
    const stored = this.#row[column]
    if (stored === null || stored === undefined) return undefined
    try {
      return convert(stored)
    } catch (error) {
      this.#damaged.push(`${column}: ${errorMessage(error)}`)
      return undefined
    }
  }
}

/** Types of JSON columns, as errors name them. */
const JSON_TYPES = {
  'an object': isJsonObject,
  'a list of texts': (value: unknown): boolean =>
    Array.isArray(value) && value.every((one) => typeof one === 'string'),
  'a text': (value: unknown): boolean => typeof value === 'string',
} as const

/** Type of a JSON column. */
export type JsonType = keyof typeof JSON_TYPES
