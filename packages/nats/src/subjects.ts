/**
 * Pure: the names of subjects, and the payloads of messages.
 *
 *   tutti.ready.<claim key>      offers, stored in the stream until they are acknowledged
 *   tutti.events.<run>           ranges of new events, for the processes that follow the run
 *   tutti.process.<process>      commands and answers for one process
 */
import { createHash } from 'node:crypto'

import type { Offer, WrittenEvents } from '@tutti/runs/adapter'
import type { SentNotification } from '@tutti/runs/internal'

/** Number of characters of the hash of a claim key: 96 bits. */
const KEY_CHARACTERS = 16

/** Names of one store in a cluster. */
export interface Names {
  readonly stream: string
  /** Subjects of all offers. */
  readonly offers: string
  /** Subject of the events of all runs. */
  readonly allEvents: string
  offersOf(claimKey: string): string
  /** Name of the consumer for a claim key's offers. */
  consumerOf(claimKey: string): string
  eventsOf(runId: string): string
  process(channel: string): string
}

/** Returns the names that begin with a prefix. */
export function createNames(prefix: string): Names {
  return {
    stream: `${prefix}_runs`,
    offers: `${prefix}.ready.*`,
    allEvents: `${prefix}.events.*`,
    offersOf: (claimKey) => `${prefix}.ready.${hashKey(claimKey)}`,
    consumerOf: (claimKey) => `ready_${hashKey(claimKey)}`,
    eventsOf: (runId) => `${prefix}.events.${toToken(runId)}`,
    process: (channel) => `${prefix}.process.${toToken(channel)}`,
  }
}

function hashKey(claimKey: string): string {
  return createHash('sha256').update(claimKey).digest('base64url').slice(0, KEY_CHARACTERS)
}

/** Returns a text as a part of a subject. A text with other characters begins with "=", which no plain text has. */
function toToken(text: string): string {
  return /^[\w-]+$/.test(text) ? text : `=${Buffer.from(text).toString('base64url')}`
}

/** Returns the payload of an offer. */
export function encodeOffer({ runId, epoch }: Offer): string {
  return JSON.stringify({ runId, epoch })
}

/** Parses the payload of an offer; undefined if it is none. */
export function decodeOffer(text: string, claimKey: string): Offer | undefined {
  const value = parseObject(text)
  const { runId, epoch } = value
  if (typeof runId !== 'string' || !Number.isSafeInteger(epoch)) return undefined
  return { runId, epoch: Number(epoch), claimKey }
}

/** Returns the payload of a notification. */
export function encodeNotification(notification: SentNotification | WrittenEvents): string {
  return JSON.stringify(notification)
}

/** Parses the payload of a notification; `missed` if it is unknown, because something may have changed. */
export function decodeNotification(text: string): SentNotification {
  const { kind, runId, from, to, commandId } = parseObject(text)
  if (kind === 'command' && typeof runId === 'string') return { kind, runId }
  if (kind === 'answer' && typeof commandId === 'string') return { kind, commandId }
  if (kind === 'ready' || kind === 'delivery') return { kind }
  const hasRange = Number.isSafeInteger(from) && Number.isSafeInteger(to)
  if (kind === 'events' && typeof runId === 'string' && hasRange) {
    return { kind, runId, from: Number(from), to: Number(to) }
  }
  return { kind: 'missed' }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
