/** Outputs that have other outputs, in a list or by key. */
import { isJsonObject } from '@tutti/protocol/internal'

import { readJsonText } from './value-inputs.ts'

import type { OutputReader } from '../output/structured-output.ts'

/** Returns a reader of a list, or of an object, whose values were already read; `items` is their JSON Schema. */
export function createFormReader(form: 'list' | 'outputs', items: object): OutputReader {
  const isList = form === 'list'
  const isForm = isList ? Array.isArray : isJsonObject
  const problem = isList ? 'must be a list' : 'must be an object with the outputs by key'
  const readValue: OutputReader['readValue'] = (value) =>
    Promise.resolve(isForm(value) ? { ok: true, value } : { ok: false, problem })
  return {
    schema: isList ? { type: 'array', items } : { type: 'object', additionalProperties: items },
    name: form,
    read: (text) => readValue(readJsonText(text)),
    readValue,
  }
}

/** Returns the list that a text has as JSON; undefined for another text. */
export function parseJsonList(text: string | undefined): readonly unknown[] | undefined {
  const value = readJsonText(text)
  return Array.isArray(value) ? value : undefined
}
