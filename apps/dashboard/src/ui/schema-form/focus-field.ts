/** Brings the reader to the field of a place. */
import { nearestDrawn } from './placed-problems.ts'

/** What can take the focus. */
const CONTROLS = ':is(input, select, textarea, button, summary):not(:disabled)'

/**
 * Opens what the field of `path` is folded in, and gives it the focus; of the fields in `root`, which say
 * their places in `data-pointer`, the nearest round it when it has none of its own.
 */
export function focusField(root: HTMLElement, path: string): void {
  const fields = fieldsIn(root)
  const field = fields.get(nearestDrawn(path, new Set(fields.keys())))
  if (field !== undefined) show(field)
}

/** Gives the focus to the first field of `root`, from the top, that one of `paths` is told at. */
export function focusFirst(root: HTMLElement, paths: readonly string[]): void {
  const fields = fieldsIn(root)
  const drawn = new Set(fields.keys())
  const wrong = new Set(paths.map((path) => nearestDrawn(path, drawn)))
  const first = [...fields].find(([path]) => wrong.has(path))
  if (first !== undefined) show(first[1])
}

function fieldsIn(root: HTMLElement): ReadonlyMap<string, HTMLElement> {
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

/** The place of the field that an element is in; undefined outside of fields. */
export function pointerOf(element: EventTarget | null): string | undefined {
  if (!(element instanceof HTMLElement)) return undefined
  return element.closest<HTMLElement>('[data-pointer]')?.dataset['pointer']
}
