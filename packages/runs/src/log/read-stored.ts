/** Reads the data of stored events and steps; `stored-values.ts` describes its format. */
import { MAX_STORED_DEPTH } from './stored-values.ts'

/** Returns the data of an event of the run. */
export type FindEventData = (seq: number) => string

/** Reads data of one run. Each event that others refer to is parsed once. */
export class StoredReader {
  readonly #find: FindEventData
  readonly #events = new Map<number, ParsedData>()
  /** Values by reference, which several events share. */
  readonly #values = new Map<string, unknown>()

  constructor(find: FindEventData) {
    this.#find = find
  }

  /** Returns the event or step with that data. */
  read(data: string): unknown {
    const { root, hasReferences } = parseData(data)
    return hasReferences ? this.#decode(root, 0) : root
  }

  #decode(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#decodeText(value)
    if (typeof value !== 'object' || value === null || depth >= MAX_STORED_DEPTH) return value
    if (Array.isArray(value)) return this.#decodeList(value, depth + 1)
    const decoded: Record<string, unknown> = { ...value }
    for (const [key, field] of Object.entries(decoded)) {
      decoded[key] = this.#decode(field, depth + 1)
    }
    return decoded
  }

  #decodeList(list: readonly unknown[], depth: number): readonly unknown[] {
    return list.flatMap((item) => {
      const run = typeof item === 'string' ? parseReference(item) : undefined
      if (run?.count === undefined) return [this.#decode(item, depth)]
      return run.seqs.flatMap((seq) => this.#readElements(seq, run.pointer, run.count ?? 0))
    })
  }

  #readElements(seq: number, pointer: string, count: number): readonly unknown[] {
    const end = pointer.lastIndexOf('/') + 1
    const first = Number(pointer.slice(end))
    return Array.from({ length: count }, (_, index) =>
      this.#readValue(seq, `${pointer.slice(0, end)}${first + index}`),
    )
  }

  #decodeText(text: string): unknown {
    if (!text.startsWith('@')) return text
    const reference = parseReference(text)
    const [seq] = reference?.seqs ?? []
    if (reference === undefined || seq === undefined) return text.slice(1)
    const { pointer, shared, rest } = reference
    const value = this.#readValue(seq, pointer)
    return shared === undefined ? value : `${String(value).slice(0, shared)}${rest}`
  }

  #readValue(seq: number, pointer: string): unknown {
    const key = `${seq}${pointer}`
    if (!this.#values.has(key)) {
      const { root, hasReferences } = this.#parseEvent(seq)
      const keys = pointer.slice(1).split('/').map(unescapeKey)
      const value = keys.reduce<unknown>(getField, root)
      this.#values.set(key, hasReferences ? this.#decode(value, keys.length) : value)
    }
    return this.#values.get(key)
  }

  #parseEvent(seq: number): ParsedData {
    const known = this.#events.get(seq) ?? parseData(this.#find(seq))
    this.#events.set(seq, known)
    return known
  }
}

/** A reference at the start of a text. A quotation mark within a text follows a backslash. */
const REFERENCE_IN_DATA = /(?<!\\)"@([\d,]+)[+#/]/g

/** Returns the sequence numbers of the events that data refers to. */
export function listReferredEvents(data: string): readonly number[] {
  if (!data.startsWith('[')) return []
  return [...data.matchAll(REFERENCE_IN_DATA)].flatMap(([, seqs = '']) => toNumbers(seqs))
}

interface ParsedData {
  readonly root: unknown
  readonly hasReferences: boolean
}

function parseData(data: string): ParsedData {
  const parsed: unknown = JSON.parse(data)
  return Array.isArray(parsed)
    ? { root: parsed[0], hasReferences: true }
    : { root: parsed, hasReferences: false }
}

interface Reference {
  readonly seqs: readonly number[]
  readonly pointer: string
  /** Number of elements of each event; absent for one value. */
  readonly count?: number
  /** Number of characters from the start of the text; absent for the whole value. */
  readonly shared?: number
  /** Text that follows those characters. */
  readonly rest: string
}

const REFERENCE = /^@([\d,]+)(?:\+(\d+)|#(\d+):(\d+))?(?=\/)/

function parseReference(text: string): Reference | undefined {
  const [head, seqs, count, shared, restLength] = REFERENCE.exec(text) ?? []
  if (head === undefined || seqs === undefined) return undefined
  const end = text.length - Number(restLength ?? 0)
  return {
    seqs: toNumbers(seqs),
    pointer: text.slice(head.length, end),
    rest: text.slice(end),
    ...(count === undefined ? {} : { count: Number(count) }),
    ...(shared === undefined ? {} : { shared: Number(shared) }),
  }
}

function toNumbers(list: string): readonly number[] {
  return list
    .split(',')
    .filter((part) => part !== '')
    .map(Number)
}

function getField(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) {
    throw new TypeError(`A stored event has no value "${key}"`)
  }
  return Object.getOwnPropertyDescriptor(value, key)?.value
}

function unescapeKey(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}
