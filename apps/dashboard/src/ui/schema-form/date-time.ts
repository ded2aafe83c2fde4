/** Instants in UTC, and what an input for a date and time in the reader's zone shows of them. Pure. */

/** An instant in UTC as the input shows it; undefined for a text that it would not give back as it was. */
export function localOf(text: string): string | undefined {
  if (text === '') return ''
  const instant = new Date(text)
  if (Number.isNaN(instant.getTime()) || !/^\d{4}-.*:\d{2}(\.000)?Z$/.test(text)) return undefined
  const shifted = new Date(instant.getTime() - instant.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 19)
}

/** What the input holds, as an instant in UTC. */
export function utcOf(local: string): string {
  const instant = new Date(local)
  if (local === '' || Number.isNaN(instant.getTime())) return ''
  return instant.toISOString().replace('.000Z', 'Z')
}
