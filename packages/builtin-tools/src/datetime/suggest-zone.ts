/** Suggests time zones for unknown names. */

/** Zones by common abbreviations, which are only suggested because they are ambiguous. */
const USUAL: Readonly<Record<string, string>> = {
  pst: 'America/Los_Angeles',
  pdt: 'America/Los_Angeles',
  cst: 'America/Chicago',
  cdt: 'America/Chicago',
  mdt: 'America/Denver',
  edt: 'America/New_York',
  bst: 'Europe/London',
  cest: 'Europe/Berlin',
  ist: 'Asia/Kolkata',
  jst: 'Asia/Tokyo',
  aest: 'Australia/Sydney',
  aedt: 'Australia/Sydney',
  kolkata: 'Asia/Kolkata',
  india: 'Asia/Kolkata',
  kyiv: 'Europe/Kyiv',
  sanfrancisco: 'America/Los_Angeles',
  washington: 'America/New_York',
}

/** Maximum length of a compared name; the work grows with the square of the length. */
const MAX_LENGTH = 40

/** Returns the zone whose name or city is most similar; undefined when none is similar. */
export function suggestZone(name: string): string | undefined {
  const wanted = toLetters(name)
  if (wanted === '' || wanted.length > MAX_LENGTH) return undefined
  if (Object.hasOwn(USUAL, wanted)) return USUAL[wanted]
  let best: string | undefined
  let bestDistance = Math.floor(wanted.length / 4) + 1
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const city = zone.slice(zone.lastIndexOf('/') + 1)
    for (const candidate of [zone, city]) {
      const distance = computeEditDistance(wanted, toLetters(candidate))
      if (distance < bestDistance) [best, bestDistance] = [zone, distance]
    }
  }
  return best
}

function toLetters(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '')
}

/** Returns the number of letters to insert, delete or replace to get from one word to the other. */
function computeEditDistance(from: string, to: string): number {
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = (last[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      const shorter = Math.min(last[column] ?? 0, current[column - 1] ?? 0) + 1
      current.push(Math.min(replaced, shorter))
    }
    last = current
  }
  return last[to.length] ?? 0
}
