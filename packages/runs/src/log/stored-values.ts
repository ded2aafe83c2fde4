/**
 * Stores each long text and each message of a run once. An event or step that repeats one refers to the event that
 * stores it; `read-stored.ts` reads both.
 *
 * The data of an event or a step is its JSON. Data with references is an array of one element, so it starts with `[`.
 * Its texts that start with `@` are references; `@@` stands for an `@` at the start of a text.
 *
 *   "@57/toolResult"              the value of event 57 at that JSON Pointer
 *   "@57#1968:31/toolResult[…]"   its first 1968 characters, then the last 31 characters of the reference
 *   "@51,54,57+2/messages/1"      in an array: two elements of each of these events, from that pointer on
 *
 * A pointer refers to data as it is stored. Values below {@link MAX_STORED_DEPTH} are stored unchanged.
 *
 * RUNS-K1 Readers get the same events and steps as if each value were stored wherever it occurs.
 * RUNS-K2 A reference names an event of the same run with the same or a smaller sequence number, never a step.
 * RUNS-K3 A reference names only values that a confirmed write of the same claim stored, or the same write.
 */
import { RememberedValues } from './remembered-values.ts'
import { serializeOnce } from './serialize-once.ts'

import type { RunStep } from '@tutti/ensemble/internal'
import type { RunEvent, RunEventOf } from '@tutti/protocol'

/** The data of a stored event or step. */
export interface StoredData {
  readonly data: string
  /** Approximate size with all values that it refers to; null for data without references. */
  readonly bytes: number | null
}

/** An event with its data. */
export interface EncodedEvent extends StoredData {
  readonly event: RunEvent
}

/** A step with its data. */
export interface EncodedStep extends StoredData {
  /** Sequence number of its event. */
  readonly seq: number
}

/** A write as a store saves it. */
export interface EncodedWrite {
  readonly events: readonly EncodedEvent[]
  readonly steps: readonly EncodedStep[]
}

/** The data of the events and steps of a write. */
interface EncodedData {
  readonly events: readonly EncodedEvent[]
  readonly steps: readonly StoredData[]
}

/** Events and steps to encode, and the values that their claim has stored. */
export interface EncodableWrite {
  readonly events: readonly RunEvent[]
  readonly steps: readonly RunStep[]
  readonly stepEvents?: readonly number[] | undefined
  readonly stored?: StoredValues | undefined
}

/** Nesting depth below which values are stored unchanged; the fields of an event have depth 1. */
export const MAX_STORED_DEPTH = 16

/** Length from which a text is stored once, in characters; a reference is shorter. */
const MIN_LENGTH = 64

/** Minimum common prefix, in characters, for a text to be stored as a reference. */
const START_LENGTH = 512

type Message = RunEventOf<'llm_iteration_started'>['messages'][number]

/** Encodes a write that follows the event `lastSeq` of its run. */
export function encodeWrite(
  { events, steps, stepEvents, stored }: EncodableWrite,
  lastSeq: number,
): EncodedWrite {
  const data =
    stored === undefined
      ? {
          events: events.map((event) => ({ event, ...toPlainData(event) })),
          steps: steps.map(toPlainData),
        }
      : stored.encode({ events, steps }, lastSeq)
  const last = Math.max(0, events.length - 1)
  return {
    events: data.events,
    steps: data.steps.map((step, index) => ({
      ...step,
      seq: lastSeq + 1 + (stepEvents?.[index] ?? last),
    })),
  }
}

function toPlainData(value: RunEvent | RunStep): StoredData {
  return { data: serializeOnce(value), bytes: null }
}

/** The values that the writes of one claim have stored. */
export class StoredValues {
  readonly #texts = new RememberedValues<TextPosition>()
  /** Long texts by their start. */
  readonly #starts = new RememberedValues<TextPosition>()
  /** Messages by their JSON. */
  readonly #messages = new RememberedValues<MessagePosition>()

  /** Encodes a write. A write that is not confirmed may be encoded again, because a transaction may be repeated. */
  encode(
    { events, steps }: Pick<EncodableWrite, 'events' | 'steps'>,
    lastSeq: number,
  ): EncodedData {
    this.forgetUnconfirmed()
    return {
      events: events.map((event, index) => ({
        event,
        ...this.#encode(event, lastSeq + 1 + index),
      })),
      steps: steps.map((step) => this.#encode(step)),
    }
  }

  /** Forgets the values of writes that were not confirmed. */
  forgetUnconfirmed(): void {
    this.#texts.forgetUnconfirmed()
    this.#starts.forgetUnconfirmed()
    this.#messages.forgetUnconfirmed()
  }

  /** Marks the write that was encoded last as stored. */
  confirm(): void {
    this.#texts.confirm()
    this.#starts.confirm()
    this.#messages.confirm()
  }

  #encode(value: RunEvent | RunStep, seq?: number): StoredData {
    const known = { texts: this.#texts, starts: this.#starts, messages: this.#messages }
    const encoding = new Encoding(known, seq)
    const encoded = encoding.encode(value)
    if (!encoding.hasReferences) return toPlainData(value)
    const data = JSON.stringify([encoded])
    return { data, bytes: data.length + encoding.referredSize }
  }
}

interface TextPosition {
  readonly seq: number
  readonly pointer: string
  readonly text: string
}

interface MessagePosition {
  readonly seq: number
  /** Index in the stored messages of the event. */
  readonly index: number
}

interface KnownValues {
  readonly texts: RememberedValues<TextPosition>
  readonly starts: RememberedValues<TextPosition>
  readonly messages: RememberedValues<MessagePosition>
}

/** Encodes one event; or one step, which has no sequence number. */
class Encoding {
  readonly #known: KnownValues
  readonly #seq: number | undefined
  /** The keys of the value that is being encoded. */
  readonly #path: string[] = []
  hasReferences = false
  /** Size of all values that are referred to, without that of their references. */
  referredSize = 0

  constructor(known: KnownValues, seq: number | undefined) {
    this.#known = known
    this.#seq = seq
  }

  encode(value: RunEvent | RunStep): unknown {
    if (!('messages' in value)) return this.#encodeFields(value, 1)
    const { messages, ...others } = value
    // The messages are encoded after the other fields, but the key order stays.
    const encoded = this.#encodeFields(others, 1)
    return { ...value, ...encoded, messages: this.#encodeMessages(messages) }
  }

  /** Returns the same object when nothing in it changes. */
  #encodeFields(value: object, depth: number): object {
    let copy: Record<string, unknown> | undefined
    // NOTE: every object can be read by its keys. `Object.entries` would allocate a pair for each field of each event.
    const fields = value as Readonly<Record<string, unknown>>
    for (const key of Object.keys(fields)) {
      const field = fields[key]
      if (isStoredUnchanged(field)) continue
      const encoded = this.#encodeAt(key, field, depth)
      if (encoded === field) continue
      copy ??= { ...value }
      copy[key] = encoded
    }
    return copy ?? value
  }

  #encodeAt(key: string, value: unknown, depth: number): unknown {
    this.#path.push(key)
    const encoded = this.#encodeValue(value, depth)
    this.#path.pop()
    return encoded
  }

  #encodeValue(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#encodeText(value)
    if (typeof value !== 'object' || value === null || depth >= MAX_STORED_DEPTH) return value
    if (!Array.isArray(value)) return this.#encodeFields(value, depth + 1)
    const encoded = value.map((item, index) => this.#encodeAt(String(index), item, depth + 1))
    return encoded.every((item, index) => item === value[index]) ? value : encoded
  }

  #encodeText(text: string): string {
    const { texts, starts } = this.#known
    if (text.length < MIN_LENGTH) return escapeText(text)
    const same = texts.find(text)
    if (same !== undefined) return this.#refer(`@${same.seq}${same.pointer}`, text.length)
    const start = text.length < START_LENGTH ? undefined : text.slice(0, START_LENGTH)
    const similar = start === undefined ? undefined : starts.find(start)
    if (similar !== undefined) return this.#referToStart(text, similar)
    if (this.#seq !== undefined) {
      const pointer = this.#path.map((key) => `/${escapeKey(key)}`).join('')
      const found = { seq: this.#seq, pointer, text }
      texts.add(text, found, text.length)
      if (start !== undefined) starts.add(start, found, text.length)
    }
    return escapeText(text)
  }

  #referToStart(text: string, { seq, pointer, text: other }: TextPosition): string {
    let shared = START_LENGTH
    while (shared < other.length && text.charCodeAt(shared) === other.charCodeAt(shared)) {
      shared += 1
    }
    const rest = text.slice(shared)
    return this.#refer(`@${seq}#${shared}:${rest.length}${pointer}${rest}`, text.length)
  }

  #encodeMessages(messages: readonly Message[]): readonly unknown[] {
    const parts = joinRuns(messages.map((message) => this.#findMessage(message)))
    return parts.map((part, index) => {
      if (part.kind === 'run') {
        const { seqs, count, index: first, size } = part
        return this.#refer(`@${seqs.join(',')}+${count}/messages/${first}`, size)
      }
      const { message, json } = part
      if (this.#seq !== undefined) {
        this.#known.messages.add(json, { seq: this.#seq, index }, json.length)
      }
      this.#path.push('messages')
      const encoded = this.#encodeAt(String(index), message, 2)
      this.#path.pop()
      return encoded
    })
  }

  #findMessage(message: Message): NewMessage | MessageRun {
    const json = JSON.stringify(message)
    const found = this.#known.messages.find(json)
    if (found === undefined) return { kind: 'new', message, json }
    const { seq, index } = found
    return { kind: 'run', seqs: [seq], index, count: 1, size: json.length }
  }

  #refer(reference: string, size: number): string {
    this.hasReferences = true
    this.referredSize += size - reference.length
    return reference
  }
}

interface NewMessage {
  readonly kind: 'new'
  readonly message: Message
  readonly json: string
}

/** Consecutive messages that are stored at the same indexes of several events. */
interface MessageRun extends Pick<MessagePosition, 'index'> {
  readonly kind: 'run'
  readonly seqs: readonly number[]
  /** Number of messages of each event. */
  readonly count: number
  readonly size: number
}

type MessagePart = NewMessage | MessageRun

/** Joins neighbors: first messages of the same event, then events with the same indexes. */
function joinRuns(messages: readonly MessagePart[]): readonly MessagePart[] {
  const ofOneEvent = joinNeighbors(messages, (a, b) =>
    a.seqs[0] === b.seqs[0] && b.index === a.index + a.count
      ? { ...a, count: a.count + 1, size: a.size + b.size }
      : undefined,
  )
  return joinNeighbors(ofOneEvent, (a, b) =>
    a.index === b.index && a.count === b.count
      ? { ...a, seqs: [...a.seqs, ...b.seqs], size: a.size + b.size }
      : undefined,
  )
}

function joinNeighbors(
  parts: readonly MessagePart[],
  join: (a: MessageRun, b: MessageRun) => MessageRun | undefined,
): readonly MessagePart[] {
  const joined: MessagePart[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    const both = last?.kind === 'run' && part.kind === 'run' ? join(last, part) : undefined
    if (both === undefined) joined.push(part)
    else joined[joined.length - 1] = both
  }
  return joined
}

/** Whether a value is stored unchanged, wherever it is. Most fields of an event are. */
function isStoredUnchanged(value: unknown): boolean {
  if (typeof value === 'string') return value.length < MIN_LENGTH && !value.startsWith('@')
  return typeof value !== 'object' || value === null
}

function escapeText(text: string): string {
  return text.startsWith('@') ? `@${text}` : text
}

function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
