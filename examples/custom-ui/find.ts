/** Elements of the page, by their selector and kind. */

/** The element of that kind; a page without it is a mistake of ours. */
export function find<Kind extends Element>(selector: string, kind: new () => Kind): Kind {
  const found = document.querySelector(selector)
  if (found instanceof kind) return found
  throw new Error(`The page has no ${kind.name} ${selector}`)
}
