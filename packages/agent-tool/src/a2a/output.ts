/**
 * Converts the output of an agent to a value and a text. Pure.
 *
 * AGENT-O1 Texts of one artifact or message are joined without separators, because agents stream text in pieces.
 *    Artifacts are separated by line breaks.
 * AGENT-O2 One item is the value itself, several are a list; if all are texts, they are one text.
 * AGENT-O3 Text that repeats data next to it as JSON appears in the text, but not in the value.
 */
import { isJsonObject } from '@tutti/protocol/internal'

import type { A2aPart } from './wire.ts'

/** Output of an agent. */
export interface A2aOutput {
  readonly value: unknown
  readonly text: string
}

/** The parts of one artifact or message. */
export interface Parted {
  readonly parts?: readonly A2aPart[]
}

/** A file as part of a value. */
interface FileItem {
  readonly file: Pick<A2aPart, 'url' | 'raw' | 'filename' | 'mediaType'>
}

type Item =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly value: unknown }
  | { readonly kind: 'file'; readonly value: FileItem }

/** Returns the output in artifacts or messages; undefined if they are empty. */
export function readOutput(sources: readonly Parted[]): A2aOutput | undefined {
  const groups = sources.map(readItems).filter((items) => items.length > 0)
  if (groups.length === 0) return undefined
  const text = groups.map((items) => joinItemTexts(items)).join('\n')
  const values = groups.flatMap((items) => toValues(items))
  if (values.every((value) => typeof value === 'string')) return { value: values.join('\n'), text }
  return { value: values.length === 1 ? values[0] : values, text }
}

function readItems({ parts = [] }: Parted): readonly Item[] {
  const items: Item[] = []
  for (const part of parts) {
    const item = toItem(part)
    const last = items.at(-1)
    if (item === undefined) continue
    if (item.kind === 'text' && last?.kind === 'text') {
      items[items.length - 1] = { kind: 'text', text: last.text + item.text }
    } else items.push(item)
  }
  return items
}

function toItem({ text, data, raw, url, filename, mediaType }: A2aPart): Item | undefined {
  if (text !== undefined) return { kind: 'text', text }
  if (data !== undefined) return { kind: 'data', value: data }
  const named = {
    ...(filename === undefined ? {} : { filename }),
    ...(mediaType === undefined ? {} : { mediaType }),
  }
  if (url !== undefined) return { kind: 'file', value: { file: { url, ...named } } }
  return raw === undefined ? undefined : { kind: 'file', value: { file: { raw, ...named } } }
}

function toValues(items: readonly Item[]): readonly unknown[] {
  const data = items.flatMap((item) => (item.kind === 'data' ? [toJson(item.value)] : []))
  return items
    .filter((item) => item.kind !== 'text' || !containsJson(data, item.text))
    .map((item) => (item.kind === 'text' ? item.text : item.value))
}

function joinItemTexts(items: readonly Item[]): string {
  const texts = items.flatMap((item) =>
    item.kind === 'text' ? (normalizeJson(item.text) ?? []) : [],
  )
  const lines = items.flatMap((item) => {
    if (item.kind === 'text') return [item.text]
    if (item.kind === 'file') return [formatFile(item.value)]
    const json = toJson(item.value)
    return texts.includes(json) ? [] : [json]
  })
  return lines.join('\n')
}

function containsJson(data: readonly string[], text: string): boolean {
  const json = normalizeJson(text)
  return json !== undefined && data.includes(json)
}

function toJson(value: unknown): string {
  // JSON.stringify returns undefined for some values, but not for values that were parsed from JSON.
  const json: string | undefined = JSON.stringify(value)
  return json ?? 'null'
}

/** Returns the compact JSON of a text that contains an object or array; undefined for other texts. */
function normalizeJson(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : undefined
  } catch {
    return undefined
  }
}

function formatFile({ file: { url, filename, mediaType } }: FileItem): string {
  const facts = [filename, mediaType, url].filter((fact) => fact !== undefined && fact !== '')
  return `[file: ${facts.join(', ')}]`
}
