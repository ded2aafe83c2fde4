/** Outputs that are lists of other outputs. */
import { parseExactJson } from '@tutti/protocol/internal'

import type { OutputReader } from '../output/structured-output.ts'

/** Returns a reader of a list whose items were already read; `items` is their JSON Schema. */
export function createListReader(items: object): OutputReader {
  const readValue: OutputReader['readValue'] = (value) =>
    Promise.resolve(
      Array.isArray(value) ? { ok: true, value } : { ok: false, problem: 'must be a list' },
    )
  return {
    schema: { type: 'array', items },
    name: 'list',
    read: (text) => readValue(parseJsonList(text)),
    readValue,
  }
}

/** Returns the list that a text has as JSON; undefined for another text. */
export function parseJsonList(text: string | undefined): readonly unknown[] | undefined {
  try {
    const value: unknown = parseExactJson(text ?? '')
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
