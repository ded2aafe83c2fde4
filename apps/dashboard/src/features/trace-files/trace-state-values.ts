/** Pure: single values of a trace file, as the rest of the page knows them. */
import type { TraceCost, TagMap } from '@tutti/protocol'

const DURATION =
  /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Milliseconds in a unit, in the order of `DURATION`. Months and years are no fixed time. */
const UNITS = [undefined, undefined, 7 * DAY, DAY, HOUR, 60_000, 1_000] as const

/** An ISO 8601 duration in whole milliseconds; undefined when it is none, or has months or years. */
export function parseDurationMs(duration: string): number | undefined {
  const parts = DURATION.exec(duration)?.slice(1)
  if (parts === undefined) return undefined
  let ms = 0
  for (const [place, unit] of UNITS.entries()) {
    const count = Number(parts[place] ?? 0)
    if (count === 0) continue
    if (unit === undefined) return undefined
    ms += count * unit
  }
  return Math.round(ms)
}

/** A field of an open object that is text; undefined when it is absent or something else. */
export function textAt(
  fields: Readonly<Record<string, unknown>>,
  name: string,
): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A field of an open object that is a whole number from 0 up. */
export function countAt(
  fields: Readonly<Record<string, unknown>>,
  name: string,
): number | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined
}

/** The tags at a name: texts, numbers and booleans. */
export function tagsAt(fields: Readonly<Record<string, unknown>>, name: string): TagMap {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).filter(([, one]) => ['string', 'number', 'boolean'].includes(typeof one)),
  )
}

/**
 * US dollars: as our own traces say them, or of an estimate, which is a number or its text. Another currency
 * is not known here.
 */
export function tracedCost(
  metadata: Readonly<Record<string, unknown>>,
  estimate: TraceCost | null,
): number | undefined {
  const said = Object.hasOwn(metadata, 'costUsd') ? metadata['costUsd'] : undefined
  if (typeof said === 'number') return said
  if (estimate === null || estimate.currency.toUpperCase() !== 'USD') return undefined
  const text = String(estimate.totalCost).trim()
  const cost = text === '' ? Number.NaN : Number(text)
  return Number.isFinite(cost) && cost >= 0 ? cost : undefined
}
