/** Parses single values of a trace file. Pure. */
import type { TraceCost, TagMap } from '@tutti/protocol/internal'

const DURATION =
  /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Milliseconds per unit, in the order of `DURATION`. Years and months have no fixed length. */
const UNITS = [undefined, undefined, 7 * DAY, DAY, HOUR, 60_000, 1_000] as const

/**
 * Parses an ISO 8601 duration to milliseconds; undefined if it is invalid, or has years or months.
 */
export function parseDurationMs(duration: string): number | undefined {
  const parts = DURATION.exec(duration)?.slice(1)
  if (parts === undefined) return undefined
  let ms = 0
  for (const [index, unit] of UNITS.entries()) {
    const count = Number(parts[index] ?? 0)
    if (count === 0) continue
    if (unit === undefined) return undefined
    ms += count * unit
  }
  return Math.round(ms)
}

type Fields = Readonly<Record<string, unknown>>

function readOwn(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** Returns a text field; undefined if it is absent, empty or not a text. */
export function readText(fields: Fields, name: string): string | undefined {
  const value = readOwn(fields, name)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns a field with a non-negative integer; undefined if it is anything else. */
export function readCount(fields: Fields, name: string): number | undefined {
  const value = readOwn(fields, name)
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined
}

/** Returns the tags in a field: texts, numbers and booleans. */
export function readTags(fields: Fields, name: string): TagMap {
  const value = readOwn(fields, name)
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).filter(([, one]) => ['string', 'number', 'boolean'].includes(typeof one)),
  )
}

/**
 * Returns a cost in US dollars: the exact one in traces of Tutti, else the estimate. Other
 * currencies are treated as unknown.
 */
export function readCost(metadata: Fields, estimate: TraceCost | null): number | undefined {
  const recorded = readOwn(metadata, 'costUsd')
  if (typeof recorded === 'number') return recorded
  if (estimate === null || estimate.currency.toUpperCase() !== 'USD') return undefined
  const text = String(estimate.totalCost).trim()
  const cost = text === '' ? Number.NaN : Number(text)
  return Number.isFinite(cost) && cost >= 0 ? cost : undefined
}
