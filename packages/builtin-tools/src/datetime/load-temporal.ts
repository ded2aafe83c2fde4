/** Where Temporal comes from. */
import type { Temporal } from 'temporal-polyfill'

/** All of Temporal. */
export type TemporalApi = typeof Temporal

/**
 * Temporal of this machine, or a library's, which is loaded when it is first needed. Some machines have
 * a Temporal from before it was finished, behind a flag: that is not used.
 */
export async function loadTemporal(): Promise<TemporalApi> {
  // NOTE: a global of this name is the standard's, or a draft of it; the next line tells them apart.
  const native = Reflect.get(globalThis, 'Temporal') as TemporalApi | undefined
  if (native !== undefined && 'timeZoneId' in native.ZonedDateTime.prototype) return native
  return (await import('temporal-polyfill/implementation')).Temporal
}
