/**
 * What an agent made, as a value and as text. Pure.
 *
 * O1 Texts of one artifact, or of one message, follow one another without a gap, as agents stream text in pieces;
 *    artifacts are lines apart.
 * O2 One item is the value itself, several are a list; nothing but texts are one text.
 * O3 Text that is the JSON of data beside it is said twice: it is in the text, not in the value.
 */
import { isJsonObject } from '@tutti/protocol'

import type { A2aPart } from './wire.ts'

/** What was made. */
export interface A2aOutput {
  readonly value: unknown
  readonly text: string
}

/** What belongs together: an artifact, or a message. */
export interface Parted {
  readonly parts?: readonly A2aPart[]
}

/** A file, as values have it. */
interface FileItem {
  readonly file: Pick<A2aPart, 'url' | 'raw' | 'filename' | 'mediaType'>
}

type Item =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly value: unknown }
  | { readonly kind: 'file'; readonly value: FileItem }

/** What artifacts or messages say; undefined when they say nothing. */
export function outputOf(sources: readonly Parted[]): A2aOutput | undefined {
  const groups = sources.map(itemsOf).filter((items) => items.length > 0)
  if (groups.length === 0) return undefined
  const text = groups.map((items) => textOfItems(items)).join('\n')
  const values = groups.flatMap((items) => valuesOf(items))
  if (values.every((value) => typeof value === 'string')) return { value: values.join('\n'), text }
  return { value: values.length === 1 ? values[0] : values, text }
}

function itemsOf({ parts = [] }: Parted): readonly Item[] {
  const items: Item[] = []
  for (const part of parts) {
    const item = itemOf(part)
    const last = items.at(-1)
    if (item === undefined) continue
    if (item.kind === 'text' && last?.kind === 'text') {
      items[items.length - 1] = { kind: 'text', text: last.text + item.text }
    } else items.push(item)
  }
  return items
}

function itemOf({ text, data, raw, url, filename, mediaType }: A2aPart): Item | undefined {
  if (text !== undefined) return { kind: 'text', text }
  if (data !== undefined) return { kind: 'data', value: data }
  const named = {
    ...(filename === undefined ? {} : { filename }),
    ...(mediaType === undefined ? {} : { mediaType }),
  }
  if (url !== undefined) return { kind: 'file', value: { file: { url, ...named } } }
  return raw === undefined ? undefined : { kind: 'file', value: { file: { raw, ...named } } }
}

function valuesOf(items: readonly Item[]): readonly unknown[] {
  const data = items.flatMap((item) => (item.kind === 'data' ? [jsonOf(item.value)] : []))
  return items
    .filter((item) => item.kind !== 'text' || !isIn(data, item.text))
    .map((item) => (item.kind === 'text' ? item.text : item.value))
}

function textOfItems(items: readonly Item[]): string {
  const texts = items.flatMap((item) =>
    item.kind === 'text' ? (compactJson(item.text) ?? []) : [],
  )
  const lines = items.flatMap((item) => {
    if (item.kind === 'text') return [item.text]
    if (item.kind === 'file') return [fileInWords(item.value)]
    const json = jsonOf(item.value)
    return texts.includes(json) ? [] : [json]
  })
  return lines.join('\n')
}

function isIn(data: readonly string[], text: string): boolean {
  const json = compactJson(text)
  return json !== undefined && data.includes(json)
}

function jsonOf(value: unknown): string {
  // Not every value has JSON; what came as JSON has.
  const json: string | undefined = JSON.stringify(value)
  return json ?? 'null'
}

/** The JSON that a text is, without spaces; undefined when it is none. */
function compactJson(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : undefined
  } catch {
    return undefined
  }
}

function fileInWords({ file: { url, filename, mediaType } }: FileItem): string {
  const facts = [filename, mediaType, url].filter((fact) => fact !== undefined && fact !== '')
  return `[file: ${facts.join(', ')}]`
}
