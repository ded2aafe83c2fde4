/** Whether keys are text where they go: in a field, or in a dialog, which has keys of its own. */
export function isTextEntry(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input,textarea,select,dialog') !== null
}
