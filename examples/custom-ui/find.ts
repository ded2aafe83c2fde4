/** Finds elements of the page. */

/** Returns the element with this selector and class. @throws {Error} when the page has none. */
export function find<Kind extends Element>(selector: string, kind: new () => Kind): Kind {
  const found = document.querySelector(selector)
  if (found instanceof kind) return found
  throw new Error(`The page has no ${kind.name} ${selector}`)
}
