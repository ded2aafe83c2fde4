/** Moves the focus to the field of a JSON pointer. */
import { findNearestDrawn } from './placed-problems.ts'

/** Selector of focusable controls. */
const CONTROLS = ':is(input, select, textarea, button, summary):not(:disabled)'

/**
 * Opens the folds around the field of `path` and focuses it. Fields of `root` have their pointer in
 * `data-pointer`; without an exact match the nearest enclosing field is used.
 */
export function focusField(root: HTMLElement, path: string): void {
  const fields = findFields(root)
  const field = fields.get(findNearestDrawn(path, new Set(fields.keys())))
  if (field !== undefined) show(field)
}

/** Focuses the first text field or menu of `root`. */
export function focusFirstControl(root: HTMLElement | null): void {
  root?.querySelector<HTMLElement>(':is(input:not([type=radio]), select, textarea)')?.focus()
}

/** Focuses the topmost field of `root` that shows a problem of `paths`. */
export function focusFirst(root: HTMLElement, paths: readonly string[]): void {
  const fields = findFields(root)
  const drawn = new Set(fields.keys())
  const wrong = new Set(paths.map((path) => findNearestDrawn(path, drawn)))
  const first = [...fields].find(([path]) => wrong.has(path))
  if (first !== undefined) show(first[1])
}

function findFields(root: HTMLElement): ReadonlyMap<string, HTMLElement> {
  return new Map(
    [...root.querySelectorAll<HTMLElement>('[data-pointer]')].map(
      (field) => [field.dataset['pointer'] ?? '', field] as const,
    ),
  )
}

function show(field: HTMLElement): void {
  for (let fold = field.closest('details'); fold !== null;) {
    fold.open = true
    fold = fold.parentElement?.closest('details') ?? null
  }
  const control = field.matches(CONTROLS) ? field : field.querySelector<HTMLElement>(CONTROLS)
  control?.focus()
  field.scrollIntoView({ block: 'nearest' })
}

/** Returns the pointer of the field that contains an element; undefined outside of fields. */
export function findPointer(element: EventTarget | null): string | undefined {
  if (!(element instanceof HTMLElement)) return undefined
  return element.closest<HTMLElement>('[data-pointer]')?.dataset['pointer']
}
