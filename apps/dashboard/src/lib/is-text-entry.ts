/** Whether keys pressed at `target` are input of a field, or belong to a dialog. */
export function isTextEntry(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input,textarea,select,dialog') !== null
}
