/** Runs all pending promises and callbacks of the event loop's next turns. */
export async function turns(count = 4): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}
