/**
 * The compact JSON of a value with the keys of its objects in the order of their code points, which is that of their
 * bytes in UTF-8: equal values have equal texts. Nothing, as `undefined`, is null.
 *
 * @throws {TypeError} for a value that has no JSON, such as one that holds itself.
 */
export function sortedJson(value: unknown): string {
  // A value without JSON, such as undefined, has no text.
  const text: string | undefined = JSON.stringify(value)
  return text === undefined ? 'null' : sorted(JSON.parse(text))
}

/** Objects of JavaScript have keys such as "10" first, in whatever order they were put. */
function sorted(json: unknown): string {
  if (typeof json !== 'object' || json === null) return JSON.stringify(json)
  if (Array.isArray(json)) return `[${json.map(sorted).join(',')}]`
  const members = Object.entries(json)
    .toSorted(([a], [b]) => byCodePoints(a, b))
    .map(([key, value]) => `${JSON.stringify(key)}:${sorted(value)}`)
  return `{${members.join(',')}}`
}

function byCodePoints(a: string, b: string): number {
  const [left, right] = [[...a], [...b]]
  const at = left.findIndex((character, index) => character !== right[index])
  if (at === -1) return left.length - right.length
  return (left[at]?.codePointAt(0) ?? -1) - (right[at]?.codePointAt(0) ?? -1)
}
