/** Lets everything run that is ready: promises, and what was put off to the next turn of the event loop. */
export async function turns(count = 4): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}
