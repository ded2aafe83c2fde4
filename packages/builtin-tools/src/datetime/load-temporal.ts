/** Loads Temporal. */
import type { Temporal } from 'temporal-polyfill'

export type TemporalApi = typeof Temporal

/**
 * Returns the built-in Temporal, or loads the polyfill. Some versions of Node have an unfinished Temporal behind a flag,
 * which is not used.
 */
export async function loadTemporal(): Promise<TemporalApi> {
  // NOTE: a global of this name is the standard's or a draft of it; the next line distinguishes them.
  const native = Reflect.get(globalThis, 'Temporal') as TemporalApi | undefined
  if (native !== undefined && 'timeZoneId' in native.ZonedDateTime.prototype) return native
  return (await import('temporal-polyfill/implementation')).Temporal
}
