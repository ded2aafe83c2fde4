/** Pure: what is said of notes that are too narrow to tell apart. */
import { formatDuration, plural } from '../../lib/format.ts'
import { whenWords, type Times, type Words } from './span-words.ts'

import type { Span } from './spans.ts'

const NAMES: Readonly<Record<Span['kind'], string>> = {
  model: 'model call',
  tool: 'tool call',
  agent: 'agent call',
  attempt: 'attempt',
  gate: 'review',
}

/** How many there are, when, and how many failed. */
export function blockWords(spans: readonly Span[], { startMs, nowMs }: Times): Words {
  const [first] = spans
  const last = spans.at(-1)
  if (first === undefined || last === undefined) return { title: 'Nothing', facts: [] }
  const kinds = [...new Set(spans.map(({ kind }) => kind))]
  const title = kinds
    .map((kind) => plural(spans.filter((span) => span.kind === kind).length, NAMES[kind]))
    .join(', ')
  const failed = spans.filter(({ status }) => status === 'failed').length
  const span = (last.endMs ?? nowMs) - first.startMs
  return {
    title,
    ...(failed === 0 ? {} : { mark: 'failed', state: `${failed} failed` }),
    facts: [
      ['From', whenWords(first.startMs, startMs)],
      ['Within', formatDuration(span)],
    ],
    note: 'Zoom in to tell them apart',
  }
}
