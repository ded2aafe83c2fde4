/**
 * Pure: notices as they go through NOTIFY, whose payload may have 7 999 bytes. One payload is JSON: who
 * sent it, and as many notices as fit.
 */
import type { StoreNotification } from '../ports/run-storage.ts'

/** Notices that go to other processes. */
export type SentNotification = Extract<
  StoreNotification,
  { kind: 'events' | 'ready' | 'signal' | 'answer' | 'delivery' | 'missed' }
>

/** Below what Postgres takes, in bytes. @see https://www.postgresql.org/docs/current/sql-notify.html */
const LONGEST_PAYLOAD = 7_500

/** The payloads that hold `notices`. One that is too long by itself becomes `missed`. */
export function toPayloads(
  origin: string,
  notices: readonly SentNotification[],
): readonly string[] {
  const payloads: string[] = []
  let items: string[] = []
  let bytes = 0
  const close = (): void => {
    if (items.length > 0)
      payloads.push(`{"from":${JSON.stringify(origin)},"items":[${items.join()}]}`)
    items = []
    bytes = 0
  }
  const room = LONGEST_PAYLOAD - Buffer.byteLength(origin) - 30
  for (const notice of notices) {
    const item = JSON.stringify(notice)
    const isLong = Buffer.byteLength(item) > room
    const fitting = isLong ? '{"kind":"missed"}' : item
    if (bytes + Buffer.byteLength(fitting) + 1 > room) close()
    items.push(fitting)
    bytes += Buffer.byteLength(fitting) + 1
  }
  close()
  return payloads
}

/** The notices of a payload, unless it comes from `origin` itself; `missed` when it cannot be read. */
export function fromPayload(origin: string, payload: string): readonly SentNotification[] {
  try {
    // NOTE: only stores of this kind write to this channel; what others send is found out below.
    const { from, items } = JSON.parse(payload) as {
      from: string
      items: readonly SentNotification[]
    }
    if (from === origin) return []
    return Array.isArray(items) ? items : [{ kind: 'missed' }]
  } catch {
    return [{ kind: 'missed' }]
  }
}
