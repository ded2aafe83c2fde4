/** Resolves when timers and whatever has arrived have had their turn. */
export function letOthersRun(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}
