/** Whether the reader points at nothing of a part of the page, and has the focus elsewhere. */
import { useState, type FocusEvent, type PointerEvent } from 'react'

/** Whether they are away, and what tells it, for the element around that part. */
export function useAway() {
  const [isPointed, setPointed] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const handlers = {
    onPointerEnter: ({ pointerType }: PointerEvent): void => setPointed(pointerType === 'mouse'),
    onPointerLeave: (): void => setPointed(false),
    // A focus that is not seen was left by a click.
    onFocus: ({ target }: FocusEvent): void => setFocused(target.matches(':focus-visible')),
    onBlur: (): void => setFocused(false),
  }
  return [!isPointed && !isFocused, handlers] as const
}
